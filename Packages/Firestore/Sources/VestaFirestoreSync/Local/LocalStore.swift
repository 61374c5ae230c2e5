package import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The cache of a client: what the backend sent, what is pending on top of it, and what is listened to.
///
/// Whatever an event needs is in memory before the event (`missing(_:)`), so that no event waits; `changes`
/// names the rows that a durable cache writes after each event. Reading a document takes the backend's document and
/// its overlay and never replays pending writes.
package struct LocalStore {
  /// The garbage collection of a cache.
  package enum GarbagePolicy: Sendable, Hashable {
    /// A document is deleted as soon as no target, view or pending write needs it.
    case eager
    /// The least recently used targets and documents go when the cache is larger than a number of bytes; `nil`: never.
    case leastRecentlyUsed(bytes: Int?)
  }

  package let database: DatabaseName
  let policy: GarbagePolicy
  /// The figures of the client.
  var tuning = SyncTuning() {
    didSet {
      documents.tuning = tuning
      residence.queryLimit = tuning.residentQueries
    }
  }
  /// The user whose writes are pending; empty for none.
  package internal(set) var user: UTF8String
  /// The documents of the backend.
  package var documents: RemoteDocuments
  /// The pending writes of each user.
  package internal(set) var queues: [UTF8String: MutationQueue] = [:]
  /// The targets.
  package internal(set) var targets = TargetCache()
  /// The named queries and bundles.
  package internal(set) var bundles = BundleCache()
  /// The part of the durable cache that is in memory.
  package var residence = CacheResidence()
  /// Grows whenever a document changes, or what is pending on top of it.
  var contents = 0
  /// Which changes become rows.
  var rows = RowPolicy.everything
  /// The rows to write; taken by their writer.
  package var changes = CacheChanges()
  /// The tags of rows that are to be deleted, all of them, before the changed ones are written.
  var clearedTags: [UInt8] = []

  /// The newest records of the targets in use.
  var active: [Int32: TargetRecord] = [:]
  var targetIDs = TargetIDs.queries()
  var viewReferences = ReferenceSet()
  var orphans: Set<DocumentKey> = []
  /// Documents of acknowledged writes that stay until the views that look at them have had the backend's results.
  private(set) var held: Set<DocumentKey> = []
  /// Documents of acknowledged writes that stay until the backend has sent a snapshot of the writes.
  private(set) var acknowledged = AcknowledgedDocuments()
  /// The acknowledged writes of documents that were not known before them.
  var unfounded = UnfoundedDocuments()
  var sequenceNumbers: [DocumentKey: Int64] = [:]
  var sequenceNumber: Int64 = 0

  /// An empty cache.
  package init(database: DatabaseName, user: String, policy: GarbagePolicy) {
    self.database = database
    self.user = UTF8String(user)
    self.policy = policy
    documents = RemoteDocuments(database: database)
    queues[self.user] = MutationQueue()
  }

  /// The pending writes of the current user.
  package var queue: MutationQueue { queues[user] ?? MutationQueue() }

  /// The snapshot version up to which the cache has received everything.
  package var lastRemoteSnapshotVersion: Timestamp { targets.lastRemoteSnapshotVersion }

  /// The documents of a target that the backend has sent.
  package func remoteKeys(of id: Int32) -> Set<DocumentKey> { targets.keys(of: id) }

  // MARK: Users

  /// Makes another user's writes the pending ones.
  ///
  /// - Returns: The documents that either user has written, as they are now.
  package mutating func changeUser(_ new: String) -> [DocumentKey: CachedDocument] {
    let old = queue
    user = UTF8String(new)
    contents += 1
    if queues[user] == nil { queues[user] = MutationQueue() }
    // Documents may have changed while another user was signed in.
    recalculateOverlays(of: queue.batches.reduce(into: Set<DocumentKey>()) { $0.formUnion($1.paths) })
    let keys = (old.batches + queue.batches).reduce(into: Set<DocumentKey>()) { $0.formUnion($1.paths) }
    return localDocuments(keys)
  }

  // MARK: Targets

  /// Begins to use a target and returns what is known about it.
  ///
  /// - Parameter key: The identity of the target, where the caller has it.
  package mutating func allocate(_ target: QueryTarget, _ key: TargetKey? = nil) -> TargetRecord {
    beginTransaction()
    let key = key ?? TargetKey(target)
    if let kept = targets.record(of: key) {
      let record = active[kept.id] ?? kept
      active[kept.id] = record
      return record
    }
    let record = TargetRecord(target, id: targetIDs.next(), sequenceNumber: sequenceNumber)
    residence.add(target: record.id)
    targets.save(record, key)
    changes.targets.insert(record.id)
    changes.globals = true
    active[record.id] = record
    return record
  }

  /// Ends the use of a target.
  package mutating func release(_ id: Int32) {
    beginTransaction()
    guard var record = active.removeValue(forKey: id) else { return }
    dereference(viewReferences.removeAll(of: id))
    switch policy {
    case .eager: removeTarget(id)
    case .leastRecentlyUsed:
      record.sequenceNumber = sequenceNumber
      targets.save(record)
      changes.targets.insert(id)
    }
    endTransaction()
  }

  mutating func removeTarget(_ id: Int32) {
    let keys = targets.remove(id)
    if rows.hasDocuments { for key in keys { note(key, of: id) } }
    // The removal of a target does not count as a use of its documents: their sequence numbers stay.
    if case .eager = policy { dereference(keys) }
    changes.targets.insert(id)
  }

  /// Returns the record of a target in use.
  package func record(of id: Int32) -> TargetRecord? { active[id] }

  // MARK: Views

  /// Keeps a document, as an acknowledged write has left it, until `release` is called with it.
  mutating func hold(_ key: DocumentKey) { held.insert(key) }

  /// Ends the keeping of documents.
  mutating func release(_ keys: [DocumentKey]) {
    beginTransaction()
    for key in keys where held.remove(key) != nil { dereference(key) }
    endTransaction()
  }

  /// Keeps a document, as an acknowledged write has left it, until a snapshot of that version.
  mutating func hold(_ key: DocumentKey, until version: Timestamp) { acknowledged.append(key, version) }

  /// Ends the keeping of the documents of writes that a snapshot has.
  ///
  /// - Parameter limit: The documents that are kept at most.
  mutating func releaseAcknowledged(upTo version: Timestamp, limit: Int) {
    guard acknowledged.count > 0 else { return }
    let done = acknowledged.take(upTo: version, limit: limit)
    if done.isEmpty { return }
    beginTransaction()
    for key in done { dereference(key) }
    endTransaction()
  }

  /// Notes which documents views show, and which targets are without limbo documents.
  package mutating func noteViews(_ views: [ViewReferences]) {
    guard !views.isEmpty else { return }
    beginTransaction()
    for view in views {
      viewReferences.insert(view.added, view.target)
      for key in view.removed {
        viewReferences.remove(key, view.target)
        dereference(key)
      }
      guard !view.isFromCache, var record = active[view.target] else { continue }
      let old = record
      record.lastLimboFreeVersion = record.snapshotVersion
      active[view.target] = record
      keepIfNeeded(record, before: old, change: nil)
    }
    endTransaction()
  }

  /// The documents that a view has gained and lost.
  package struct ViewReferences {
    /// The target of the view.
    package let target: Int32
    /// Whether the view may be incomplete.
    package let isFromCache: Bool
    /// Documents that are new in the view.
    package let added: [DocumentKey]
    /// Documents that have left the view.
    package let removed: [DocumentKey]
  }

  /// Keeps a record when losing it would cost more than writing it.
  mutating func keepIfNeeded(_ new: TargetRecord, before old: TargetRecord, change: TargetUpdate?) {
    let interval = tuning.resumeTokenSeconds
    let isNeeded =
      old.resumeToken.isEmpty || new.snapshotVersion.seconds - old.snapshotVersion.seconds >= interval
      || new.lastLimboFreeVersion.seconds - old.lastLimboFreeVersion.seconds >= interval
      || change.map { !($0.added.isEmpty && $0.modified.isEmpty && $0.removed.isEmpty) } ?? false
    guard isNeeded else { return }
    targets.save(new)
    changes.targets.insert(new.id)
  }
}
