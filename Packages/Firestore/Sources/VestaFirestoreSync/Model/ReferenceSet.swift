import VestaFirestoreModel

/// Pairs of a document and a number, found from both sides: which target or view refers to which document.
package struct ReferenceSet: Sendable {
  private var idsByKey: [DocumentKey: Set<Int32>] = [:]
  private var keysByID: [Int32: Set<DocumentKey>] = [:]

  /// An empty set.
  package init() {}

  /// Whether anything refers to a document.
  package func contains(_ key: DocumentKey) -> Bool { idsByKey[key] != nil }

  /// Returns the numbers that refer to a document.
  package func ids(of key: DocumentKey) -> Set<Int32> { idsByKey[key] ?? [] }

  /// The documents that a number refers to.
  package func keys(of id: Int32) -> Set<DocumentKey> { keysByID[id] ?? [] }

  /// Adds a reference.
  package mutating func insert(_ key: DocumentKey, _ id: Int32) {
    idsByKey[key, default: []].insert(id)
    keysByID[id, default: []].insert(key)
  }

  /// Removes a reference.
  package mutating func remove(_ key: DocumentKey, _ id: Int32) {
    idsByKey[key]?.remove(id)
    if idsByKey[key]?.isEmpty == true { idsByKey[key] = nil }
    keysByID[id]?.remove(key)
    if keysByID[id]?.isEmpty == true { keysByID[id] = nil }
  }

  /// Removes all references of a number and returns the documents they were to.
  @discardableResult
  package mutating func removeAll(of id: Int32) -> Set<DocumentKey> {
    let keys = keysByID.removeValue(forKey: id) ?? []
    for key in keys {
      idsByKey[key]?.remove(id)
      if idsByKey[key]?.isEmpty == true { idsByKey[key] = nil }
    }
    return keys
  }
}
