import VestaBytes
package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The cache of a client: the backend's documents, the pending writes on top of them, and the targets.
///
/// It puts four values together, and has what concerns several of them, as one transaction:
///
/// - `shown` (`LocalDocuments`): the backend's documents and the pending writes on top, and queries over both.
/// - `targets` (`TargetCache`): the targets, as far as they have been followed, with the documents of each.
/// - `uses` (`DocumentUses`): the uses that keep documents in the cache, and when each was used.
/// - `residence` (`CacheResidence`): which part of a durable cache is in memory.
///
/// Whatever an event needs is in memory before the event (`missing(_:)`), so that no event waits; `changes`
/// names the rows that a durable cache writes after each event.
///
/// Worked example: the view of target 2 shows `rooms/a`, which is written. `write`: a batch and an overlay in `shown`,
/// and a row in `changes`. `acknowledge`: the document in `shown`, and the batch is removed. `apply`: a snapshot takes
/// the document out of target 2; `uses` has an orphan, and at the end of the transaction the document leaves `shown`.
package struct LocalStore {
  /// The garbage collection of a cache.
  package enum GarbagePolicy: Sendable, Hashable {
    /// A document is deleted as soon as no target, view or pending write needs it.
    case eager
    /// The least recently used targets and documents go when the cache is larger than a number of bytes; `nil`: never.
    case leastRecentlyUsed(bytes: Int?)
  }

  package let database: DatabaseName
  /// The figures of the client.
  var tuning = SyncTuning() {
    didSet {
      shown.remote.tuning = tuning
      residence.queryLimit = tuning.residentQueries
    }
  }
  /// The documents as the application sees them.
  package internal(set) var shown: LocalDocuments
  /// The targets.
  package internal(set) var targets = TargetCache()
  /// The named queries and bundles.
  package internal(set) var bundles = BundleCache()
  /// The part of the durable cache that is in memory.
  package var residence = CacheResidence()
  /// The uses that keep documents in the cache.
  var uses: DocumentUses
  /// The acknowledged writes of documents that were not known before them.
  var unfounded = UnfoundedDocuments()
  /// Grows whenever a document changes, or what is pending on top of it.
  var contents = 0
  /// Which changes become rows.
  var rows = RowPolicy.everything
  /// The rows to write; taken by their writer.
  package var changes = CacheChanges()
  /// The tags of rows that are to be deleted, all of them, before the changed ones are written.
  var clearedTags: [UInt8] = []

  /// An empty cache.
  package init(database: DatabaseName, user: String, policy: GarbagePolicy) {
    self.database = database
    uses = DocumentUses(policy)
    shown = LocalDocuments(
      remote: RemoteDocuments(database: database), writes: PendingWrites(user: UTF8String(user)))
  }

  /// The garbage collection.
  var policy: GarbagePolicy { uses.policy }

  /// The documents of the backend.
  package var documents: RemoteDocuments {
    get { shown.remote }
    _modify { yield &shown.remote }
  }

  /// The pending writes of the current user.
  package var queue: MutationQueue { shown.writes.queue }

  /// The snapshot version up to which the cache has received everything.
  package var lastRemoteSnapshotVersion: Timestamp { targets.lastRemoteSnapshotVersion }

  // MARK: Users

  /// Makes another user's writes the pending ones.
  ///
  /// - Returns: The documents that either user has written, as they are now.
  package mutating func changeUser(_ user: String) -> [DocumentKey: CachedDocument] {
    contents += 1
    return shown.changeUser(UTF8String(user))
  }

  // MARK: Targets

  /// Begins to use a target and returns what is known about it.
  ///
  /// - Parameter key: The identity of the target, where the caller has it.
  package mutating func allocate(_ target: QueryTarget, _ key: TargetKey? = nil) -> TargetRecord {
    beginTransaction()
    let (record, isNew) = targets.use(target, key ?? TargetKey(target), number: uses.number)
    if isNew {
      residence.add(target: record.id)
      changes.targets.insert(record.id)
      changes.globals = true
    }
    return record
  }

  /// Ends the use of a target.
  package mutating func release(_ id: Int32) {
    beginTransaction()
    guard var record = targets.endUse(of: id) else { return }
    uses.dereference(uses.views.removeAll(of: id))
    switch policy {
    case .eager: removeTarget(id)
    case .leastRecentlyUsed:
      record.sequenceNumber = uses.number
      targets.save(record)
      changes.targets.insert(id)
    }
    endTransaction()
  }

  mutating func removeTarget(_ id: Int32) {
    let keys = targets.remove(id)
    if rows.hasDocuments { for key in keys { note(key, of: id) } }
    // The removal of a target does not count as a use of its documents: their sequence numbers stay.
    if case .eager = policy { uses.dereference(keys) }
    changes.targets.insert(id)
  }

  // MARK: Views

  /// Ends the keeping of documents.
  mutating func release(_ keys: [DocumentKey]) {
    beginTransaction()
    uses.release(keys)
    endTransaction()
  }

  /// Ends the keeping of the documents of writes that a snapshot has.
  ///
  /// - Parameter limit: The documents that are kept at most.
  mutating func releaseAcknowledged(upTo version: Timestamp, limit: Int) {
    let done = uses.takeAcknowledged(upTo: version, limit: limit)
    if done.isEmpty { return }
    beginTransaction()
    for key in done { uses.dereference(key) }
    endTransaction()
  }

  /// Notes which documents views show, and which targets are without limbo documents.
  package mutating func noteViews(_ views: [ViewReferences]) {
    guard !views.isEmpty else { return }
    beginTransaction()
    for view in views {
      uses.views.insert(view.added, view.target)
      for key in view.removed {
        uses.views.remove(key, view.target)
        uses.dereference(key)
      }
      guard !view.isFromCache, var record = targets.active[view.target] else { continue }
      let old = record
      record.lastLimboFreeVersion = record.snapshotVersion
      targets.update(record)
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
