package import VestaFirestoreModel

/// The path of a document below the root of its database.
package typealias DocumentKey = ResourcePath

/// The identity of a query: the bytes of its canonical identifier and their hash, computed once.
package struct QueryID: Sendable, Hashable {
  private let bytes: [UInt8]
  private let number: Int

  /// The identity of a query.
  package init(_ query: LocalQuery) {
    bytes = Array(query.canonicalID.utf8)
    number = bytes.hashValue
  }

  /// Feeds the hash of the bytes.
  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

/// The same for targets.
package struct TargetKey: Sendable, Hashable {
  private let bytes: [UInt8]
  private let number: Int

  /// The identity of a target.
  package init(_ target: QueryTarget) {
    bytes = Array(target.canonicalID.utf8)
    number = bytes.hashValue
  }

  /// Feeds the hash of the bytes.
  package func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
