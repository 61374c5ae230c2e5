package import VestaFirestoreBackend

/// Finds the vectors nearest to another one by measuring every distance.
package struct NearestVectors: Sendable {
  private let search: FindNearest
  private let query: [Double]
  private let path: FieldPath

  /// A search that has been checked.
  package init(_ search: FindNearest) {
    self.search = search
    query = NearestVectors.numbers(of: search.queryVector) ?? []
    // `QueryRules` has parsed it before.
    path = (try? FieldPath(parsing: search.vectorField)) ?? .documentName
  }

  /// The nearest documents, nearest first; those at one distance stay in their order.
  package func nearest(in documents: [Document]) -> [Document] {
    var search = NearestSearch(self)
    for document in documents { search.add(document) }
    return search.results
  }

  var limit: Int { Int(search.limit) }

  /// Returns the distance of a document; `nil` where it has no vector of the right kind, or is too far.
  func distance(of document: Document) -> Double? {
    guard let value = document.fields[path], let vector = NearestVectors.numbers(of: value) else { return nil }
    guard vector.count == query.count, let distance = distance(to: vector), isNear(distance) else { return nil }
    return distance
  }

  func isNearer(_ left: Double, than right: Double) -> Bool {
    search.distanceMeasure == .dotProduct ? left > right : left < right
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

  func withDistance(_ document: Document, _ distance: Double) -> Document {
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

/// A search under way: it keeps the nearest documents so far, and not all that it was given.
package struct NearestSearch: Sendable {
  private let vectors: NearestVectors
  private var found: [(document: Document, distance: Double, number: Int)] = []
  private var count = 0

  /// A search that has been given nothing.
  package init(_ vectors: NearestVectors) { self.vectors = vectors }

  /// Looks at a document; of two at one distance the earlier one is nearer.
  package mutating func add(_ document: Document) {
    guard let distance = vectors.distance(of: document) else { return }
    found.append((document, distance, count))
    count += 1
    // Sorting once in a while costs less than keeping order all the time.
    if found.count >= 4 * vectors.limit + 64 { trim() }
  }

  /// The nearest documents, nearest first.
  package var results: [Document] {
    var search = self
    search.trim()
    return search.found.map { vectors.withDistance($0.document, $0.distance) }
  }

  private mutating func trim() {
    found.sort { left, right in
      left.distance == right.distance
        ? left.number < right.number : vectors.isNearer(left.distance, than: right.distance)
    }
    found.removeLast(max(0, found.count - vectors.limit))
  }
}
