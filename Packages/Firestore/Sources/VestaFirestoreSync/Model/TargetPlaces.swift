import VestaFirestoreModel

/// Where the documents of targets can be, by the identifiers of their collections.
///
/// Coarser than the truth: collections with one identifier count as one, wherever they are.
struct TargetPlaces: Sendable {
  private var queries: [CollectionID: Int] = [:]
  private var documents: [CollectionID: Int] = [:]
  private var documentTargets: [ResourcePath: Int] = [:]

  private static func collection(of target: QueryTarget) -> CollectionID {
    target.collectionGroup ?? (target.isDocument ? target.path.parent : target.path).collectionID
  }

  mutating func insert(_ target: QueryTarget) { add(1, target) }

  mutating func remove(_ target: QueryTarget) { add(-1, target) }

  private mutating func add(_ count: Int, _ target: QueryTarget) {
    let collection = TargetPlaces.collection(of: target)
    if target.isDocument {
      documents.add(count, for: collection)
      documentTargets.add(count, for: target.path)
    } else {
      queries.add(count, for: collection)
    }
  }

  /// Whether no target but this one, which is among them, can have any of its documents.
  func isAlone(_ target: QueryTarget) -> Bool {
    let collection = TargetPlaces.collection(of: target)
    if target.isDocument { return queries[collection] == nil && documentTargets[target.path] == 1 }
    return queries[collection] == 1 && documents[collection] == nil
  }
}

extension Dictionary where Value == Int {
  fileprivate mutating func add(_ count: Int, for key: Key) {
    let sum = self[key, default: 0] + count
    self[key] = sum == 0 ? nil : sum
  }
}
