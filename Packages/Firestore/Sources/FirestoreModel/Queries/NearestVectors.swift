package import FirestoreInterop

/// Finds the vectors nearest to another one by measuring every distance.
package struct NearestVectors: Sendable {
  private let search: FindNearest
  private let query: [Double]

  /// A search that has been checked.
  package init(_ search: FindNearest) {
    self.search = search
    query = NearestVectors.numbers(of: search.queryVector) ?? []
  }

  /// The nearest documents, nearest first; those at one distance stay in their order.
  package func nearest(in documents: [Document]) -> [Document] {
    guard let path = try? FieldPath(parsing: search.vectorField) else { return [] }
    let measured = documents.compactMap { document -> (document: Document, distance: Double)? in
      guard let value = document.fields[path], let vector = NearestVectors.numbers(of: value) else { return nil }
      guard vector.count == query.count, let distance = distance(to: vector), isNear(distance) else { return nil }
      return (document, distance)
    }
    let isProduct = search.distanceMeasure == .dotProduct
    let order = measured.indices.sorted { left, right in
      let (first, second) = (measured[left].distance, measured[right].distance)
      return first == second ? left < right : isProduct ? first > second : first < second
    }
    return order.prefix(Int(search.limit)).map { withDistance(measured[$0].document, measured[$0].distance) }
  }

  /// The distance of a vector; `nil` where there is none, as for the angle to the vector of zeros.
  package func distance(to vector: [Double]) -> Double? {
    let product = zip(query, vector).reduce(0) { $0 + $1.0 * $1.1 }
    let distance: Double
    switch search.distanceMeasure {
    case .dotProduct: distance = product
    case .euclidean: distance = zip(query, vector).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }.squareRoot()
    case .cosine:
      let lengths = NearestVectors.length(of: query) * NearestVectors.length(of: vector)
      guard lengths > 0 else { return nil }
      distance = 1 - product / lengths
    }
    return distance.isNaN ? nil : distance
  }

  private func isNear(_ distance: Double) -> Bool {
    guard let threshold = search.distanceThreshold else { return true }
    return search.distanceMeasure == .dotProduct ? distance >= threshold : distance <= threshold
  }

  private func withDistance(_ document: Document, _ distance: Double) -> Document {
    guard let field = search.distanceResultField, let path = try? FieldPath(parsing: field) else { return document }
    var result = document
    result.fields.set(.double(distance), at: path)
    return result
  }

  static func numbers(of value: Value) -> [Double]? {
    guard let elements = value.vectorElements else { return nil }
    var numbers: [Double] = []
    for element in elements {
      switch element {
      case .double(let number): numbers.append(number)
      case .integer(let number): numbers.append(Double(number))
      default: return nil
      }
    }
    return numbers
  }

  private static func length(of vector: [Double]) -> Double { vector.reduce(0) { $0 + $1 * $1 }.squareRoot() }
}
