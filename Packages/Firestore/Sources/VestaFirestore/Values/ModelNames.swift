internal import VestaFirestoreBackend
internal import VestaFirestoreModel

// The public classes have the names that applications know, and so have some values of the seam. Inside this module the
// seam's are spelled with these names.

/// A timestamp as the backend sends it.
typealias WireTimestamp = VestaFirestoreBackend.Timestamp
/// A geo point as the backend sends it.
typealias WireGeoPoint = VestaFirestoreBackend.GeoPoint
/// A field path of the model.
typealias ModelFieldPath = VestaFirestoreModel.FieldPath
