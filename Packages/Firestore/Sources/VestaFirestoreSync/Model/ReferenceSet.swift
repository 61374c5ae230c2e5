import VestaFirestoreModel

/// Pairs of a document and a number, found from both sides: which target or view refers to which document.
package struct ReferenceSet: Sendable {
  private var idsByKey: [DocumentKey: FewNumbers<Int32>] = [:]
  private var keysByID: [Int32: Set<DocumentKey>] = [:]

  /// An empty set.
  package init() {}

  /// Whether anything refers to a document.
  package func contains(_ key: DocumentKey) -> Bool { idsByKey[key] != nil }

  /// The documents that a number refers to.
  package func keys(of id: Int32) -> Set<DocumentKey> { keysByID[id] ?? [] }

  /// Adds a reference.
  package mutating func insert(_ key: DocumentKey, _ id: Int32) {
    idsByKey[key, default: .one(id)].insert(id)
    keysByID[id, default: []].insert(key)
  }

  /// Adds references to many documents.
  package mutating func insert(_ keys: Set<DocumentKey>, _ id: Int32) {
    if keys.isEmpty { return }
    for key in keys { idsByKey[key, default: .one(id)].insert(id) }
    if keysByID[id] == nil { keysByID[id] = keys } else { keysByID[id]?.formUnion(keys) }
  }

  /// Adds references to many documents.
  package mutating func insert(_ keys: [DocumentKey], _ id: Int32) {
    if keys.isEmpty { return }
    for key in keys { idsByKey[key, default: .one(id)].insert(id) }
    // Taken out while it grows, so that nothing is copied.
    var all = keysByID.removeValue(forKey: id) ?? []
    all.reserveCapacity(all.count + keys.count)
    for key in keys { all.insert(key) }
    keysByID[id] = all
  }

  /// Removes a reference.
  package mutating func remove(_ key: DocumentKey, _ id: Int32) {
    if idsByKey[key]?.remove(id) == true { idsByKey[key] = nil }
    keysByID[id]?.remove(key)
    if keysByID[id]?.isEmpty == true { keysByID[id] = nil }
  }

  /// Removes all references of a number and returns the documents they were to.
  @discardableResult
  package mutating func removeAll(of id: Int32) -> Set<DocumentKey> {
    let keys = keysByID.removeValue(forKey: id) ?? []
    for key in keys where idsByKey[key]?.remove(id) == true { idsByKey[key] = nil }
    return keys
  }
}
