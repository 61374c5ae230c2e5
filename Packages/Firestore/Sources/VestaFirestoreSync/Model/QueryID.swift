package import VestaFirestoreModel

/// The path of a document below the root of its database.
package typealias DocumentKey = ResourcePath

/// The identity of a target: the bytes of its canonical identifier and their hash, computed once.
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

/// The identity of a query: that of its target, and the side that its limit counts from.
package struct QueryID: Sendable, Hashable {
  /// The identity of the target.
  let target: TargetKey
  private let side: LocalQuery.LimitType?

  /// The identity of a query.
  package init(_ query: LocalQuery) {
    target = TargetKey(query.target)
    side = query.limit == nil ? nil : query.limitType
  }
}
