import VestaFirestoreModel

/// Pairs of a document and a number, found from both sides: which target or view refers to which document.
package struct ReferenceSet: Sendable {
  /// The numbers of one document: as a rule a single one, which needs no separate set.
  private enum Numbers: Sendable {
    case one(Int32)
    case many(Set<Int32>)

    mutating func insert(_ id: Int32) {
      switch self {
      case .one(let old): if old != id { self = .many([old, id]) }
      case .many(var ids):
        // Let go before the change, so that nothing is copied.
        self = .one(id)
        ids.insert(id)
        self = .many(ids)
      }
    }

    /// Removes a number and returns whether it was the last one.
    mutating func remove(_ id: Int32) -> Bool {
      switch self {
      case .one(let old): return old == id
      case .many(var ids):
        self = .one(id)
        ids.remove(id)
        if ids.count == 1, let last = ids.first { self = .one(last) } else { self = .many(ids) }
        return ids.isEmpty
      }
    }
  }

  private var idsByKey: [DocumentKey: Numbers] = [:]
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
