import VestaFirestore

// The seam has values of the same names; these tests mean the public ones.
typealias Timestamp = VestaFirestore.Timestamp
typealias GeoPoint = VestaFirestore.GeoPoint
typealias FieldPath = VestaFirestore.FieldPath
typealias Filter = VestaFirestore.Filter
