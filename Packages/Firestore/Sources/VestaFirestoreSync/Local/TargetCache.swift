package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The targets that the cache keeps, with the documents of each.
package struct TargetCache: Sendable {
  /// The targets as they are kept; resume tokens may be older than those in use.
  package private(set) var records: [Int32: TargetRecord] = [:]
  /// The highest identifier that a target ever had.
  package private(set) var highestID: Int32 = 0
  /// The snapshot version up to which the cache has received everything.
  package var lastRemoteSnapshotVersion = Timestamp.zero
  /// The newest records of the targets in use.
  private(set) var active: [Int32: TargetRecord] = [:]
  private var nextIDs = TargetIDs.queries()
  private var ids: [TargetKey: Int32] = [:]
  /// The keys of the targets, which take longer to make than to find.
  private var keys: [Int32: TargetKey] = [:]
  private var documents = ReferenceSet()

  /// A cache without targets.
  package init() {}

  /// A cache with what was kept.
  package init(records: [TargetRecord], documents: [(DocumentKey, Int32)], highestID: Int32, lastVersion: Timestamp) {
    for record in records { save(record) }
    for (key, id) in documents { self.documents.insert(key, id) }
    self.highestID = max(self.highestID, highestID)
    lastRemoteSnapshotVersion = lastVersion
    nextIDs = TargetIDs.queries(after: self.highestID)
  }

  // MARK: Targets in use

  /// Gives no new target an identifier up to one.
  mutating func skipIDs(upTo id: Int32) { nextIDs = TargetIDs.queries(after: id) }

  /// Begins to use a target.
  ///
  /// - Parameters:
  ///   - key: The identity of the target.
  ///   - number: The number of the transaction.
  /// - Returns: Its record, and whether it is a new one.
  mutating func use(_ target: QueryTarget, _ key: TargetKey, number: Int64) -> (record: TargetRecord, isNew: Bool) {
    if let kept = record(of: key) {
      let record = active[kept.id] ?? kept
      active[kept.id] = record
      return (record, false)
    }
    let record = TargetRecord(target, id: nextIDs.next(), sequenceNumber: number)
    save(record, key)
    active[record.id] = record
    return (record, true)
  }

  /// Notes the newest record of a target in use.
  mutating func update(_ record: TargetRecord) { active[record.id] = record }

  /// Ends the use of a target.
  ///
  /// - Returns: Its newest record; `nil` when it was not in use.
  mutating func endUse(of id: Int32) -> TargetRecord? { active.removeValue(forKey: id) }

  /// Forgets everything but the targets in use, each as if it had not been followed.
  mutating func discard() {
    let (used, next) = (active.values, nextIDs)
    self = TargetCache(records: [], documents: [], highestID: highestID, lastVersion: lastRemoteSnapshotVersion)
    nextIDs = next
    for record in used {
      var fresh = record.resuming(at: [], version: .zero)
      fresh.lastLimboFreeVersion = .zero
      active[record.id] = fresh
      save(fresh)
    }
  }

  // MARK: Records

  /// The record of a target.
  package func record(of target: QueryTarget) -> TargetRecord? { record(of: TargetKey(target)) }

  /// The record of the target with a key.
  func record(of key: TargetKey) -> TargetRecord? { ids[key].flatMap { records[$0] } }

  /// Keeps a record in place of the one with its identifier.
  package mutating func save(_ record: TargetRecord) {
    let key = keys[record.id] ?? TargetKey(record.target)
    save(record, key)
  }

  /// Keeps a record whose target has a key.
  mutating func save(_ record: TargetRecord, _ key: TargetKey) {
    records[record.id] = record
    keys[record.id] = key
    ids[key] = record.id
    highestID = max(highestID, record.id)
  }

  /// Forgets a target.
  ///
  /// - Returns: The documents it had.
  @discardableResult
  package mutating func remove(_ id: Int32) -> Set<DocumentKey> {
    records[id] = nil
    if let key = keys.removeValue(forKey: id) { ids[key] = nil }
    return documents.removeAll(of: id)
  }

  /// The documents of a target.
  package func keys(of id: Int32) -> Set<DocumentKey> { documents.keys(of: id) }

  /// Whether any target has a document.
  package func contains(_ key: DocumentKey) -> Bool { documents.contains(key) }

  /// Adds a document to a target.
  package mutating func insert(_ key: DocumentKey, into id: Int32) { documents.insert(key, id) }

  /// Adds documents to a target.
  package mutating func insert(_ keys: Set<DocumentKey>, into id: Int32) { documents.insert(keys, id) }

  /// Removes a document from a target.
  package mutating func remove(_ key: DocumentKey, from id: Int32) { documents.remove(key, id) }
}
