package import VestaFirestoreBackend
package import VestaFirestoreModel

/// The results of one query, kept current by the changes of documents.
///
/// It computes what has changed, whether the results are complete, and which documents are in limbo: in the results,
/// though the backend does not say so.
package struct QueryView: Sendable {
  /// How complete the results are.
  package enum SyncState: Sendable, Hashable {
    case none
    case local
    case synced
  }

  /// A document that entered or left limbo.
  package enum LimboChange: Sendable, Hashable {
    case added(DocumentKey)
    case removed(DocumentKey)
  }

  /// The documents after changes that are not yet applied.
  package struct DocumentChanges: Sendable {
    let documents: DocumentSet
    let changes: DocumentChangeSet
    let mutatedKeys: Set<DocumentKey>
    /// Documents whose acknowledged state is not shown yet.
    let awaited: [DocumentKey: Timestamp]
    /// Whether a document beyond the limit may have to be added: the query must run again.
    package let needsRefill: Bool
  }

  /// The outcome of applying changes.
  package struct Outcome: Sendable {
    /// The snapshot for listeners; `nil` when nothing has changed for them.
    package var snapshot: ViewSnapshot?
    /// Documents that entered or left limbo.
    package var limboChanges: [LimboChange]
  }

  /// The query.
  package let query: LocalQuery
  let id: QueryID
  /// How complete the results are.
  package private(set) var syncState = SyncState.none
  /// The documents that the backend says are results.
  package private(set) var syncedKeys: Set<DocumentKey>
  /// Whether the backend has sent everything that matched when the target was added.
  private(set) var isCurrent = false
  private var documents: DocumentSet
  private var mutatedKeys: Set<DocumentKey> = []
  /// The documents in limbo.
  private(set) var limboKeys: Set<DocumentKey> = []
  /// Whether `limboKeys` is exact, so that only what changes has to be looked at.
  private var isLimboExact = false
  /// Documents that are shown with a local state although the write was acknowledged, with the version that the
  /// backend is to deliver.
  private var awaited: [DocumentKey: Timestamp] = [:]
  /// The last snapshot of the backend that the view has seen.
  private var version = Timestamp.zero
  private var isAwaitingReset = false

  /// A view without documents.
  ///
  /// - Parameter remoteKeys: The documents that the cache has of the target.
  package init(_ query: LocalQuery, id: QueryID, remoteKeys: Set<DocumentKey>) {
    self.query = query
    self.id = id
    syncedKeys = remoteKeys
    documents = DocumentSet(orders: query.orders)
  }

  // MARK: Computing changes

  /// Computes the effect of changed documents on the results; nothing is applied.
  ///
  /// - Parameter order: The keys of all changed documents in the probable order of the first results; empty when the
  ///   order is not known.
  package func computeChanges(
    _ changed: [DocumentKey: CachedDocument], previous: DocumentChanges? = nil, order: [DocumentKey] = []
  ) -> DocumentChanges {
    var pass = Pass(view: self, previous: previous)
    if pass.isInitial {
      // Documents that are in order already take one comparison each.
      let ordered = order.count == changed.count ? order.compactMap { changed[$0] } : []
      pass.addInitial((ordered.count == changed.count ? ordered : Array(changed.values)).filter { query.matches($0) })
    } else {
      for (key, document) in changed.sorted(by: { $0.key < $1.key }) { pass.add(key, document) }
    }
    pass.trim()
    return pass.result(needsRefill: pass.needsRefill)
  }

  /// Applies the first results of the query, in their probable order, to a view without documents.
  ///
  /// - Returns: `nil` when the view has documents.
  package mutating func applyFirst(
    _ found: [CachedDocument], _ target: TargetUpdate, version: Timestamp
  ) -> Outcome? {
    guard documents.isEmpty else { return nil }
    return apply(firstChanges(found), target, version: version)
  }

  /// The changes to a view without documents: the first results of the query, in their probable order.
  func firstChanges(_ found: [CachedDocument]) -> DocumentChanges {
    var pass = Pass(view: self, previous: nil)
    pass.addInitial(found.filter { query.matches($0) })
    pass.trim()
    return pass.result(needsRefill: false)
  }

  /// One run over changed documents.
  private struct Pass {
    let query: LocalQuery
    let oldDocuments: DocumentSet
    let oldMutatedKeys: Set<DocumentKey>
    let isRefill: Bool
    let isInitial: Bool
    let lastInLimit: CachedDocument?
    let firstInLimit: CachedDocument?
    var documents: DocumentSet
    var mutatedKeys: Set<DocumentKey>
    var awaited: [DocumentKey: Timestamp]
    var changes: DocumentChangeSet
    var needsRefill = false

    init(view: QueryView, previous: DocumentChanges?) {
      let oldDocuments = previous?.documents ?? view.documents
      query = view.query
      self.oldDocuments = oldDocuments
      oldMutatedKeys = view.mutatedKeys
      isRefill = previous != nil
      isInitial = previous == nil && oldDocuments.isEmpty
      documents = oldDocuments
      mutatedKeys = previous?.mutatedKeys ?? view.mutatedKeys
      awaited = previous?.awaited ?? view.awaited
      changes = previous?.changes ?? DocumentChangeSet()
      let isFull = oldDocuments.count == view.query.limit
      lastInLimit = isFull && view.query.limitType == .first ? oldDocuments.last : nil
      firstInLimit = isFull && view.query.limitType == .last ? oldDocuments.first : nil
    }

    /// Adds the first documents, which needs no note of changes: there were none before.
    mutating func addInitial(_ matching: [CachedDocument]) {
      documents.insert(contentsOf: matching)
      for document in matching where document.hasLocalMutations { mutatedKeys.insert(document.path) }
    }

    mutating func add(_ key: DocumentKey, _ document: CachedDocument) {
      let new = query.matches(document) ? document : nil
      let applied: Bool
      switch (oldDocuments[key], new) {
      case (let old?, let new?): applied = replace(old, new)
      case (nil, let new?):
        changes.add(DocumentViewChange(.added, new))
        applied = true
      case (let old?, nil):
        changes.add(DocumentViewChange(.removed, old))
        if lastInLimit != nil || firstInLimit != nil { needsRefill = true }
        applied = true
      case (nil, nil): applied = false
      }
      guard applied else { return }
      awaited[key] = nil
      guard let new else {
        documents.remove(key)
        mutatedKeys.remove(key)
        return
      }
      documents.insert(new)
      if new.hasLocalMutations { mutatedKeys.insert(key) } else { mutatedKeys.remove(key) }
    }

    /// Whether the new document takes the place of the old one.
    private mutating func replace(_ old: CachedDocument, _ new: CachedDocument) -> Bool {
      if old.fields == new.fields {
        let isPending = new.hasLocalMutations || oldMutatedKeys.contains(new.path) && new.hasCommittedMutations
        guard oldMutatedKeys.contains(old.path) != isPending else {
          if isPending, new.hasCommittedMutations { awaited[new.path] = new.version }
          return false
        }
        changes.add(DocumentViewChange(.metadata, new))
        return true
      }
      // An acknowledged write is shown when the watch stream has delivered it: until then the local state stays, unless
      // that lacks what the document had before.
      if old.hasLocalMutations, new.hasCommittedMutations, !new.isCompleted {
        awaited[new.path] = new.version
        return false
      }
      changes.add(DocumentViewChange(.modified, new))
      let isBeyondLast = lastInLimit.map { query.compare(new, $0) > 0 } ?? false
      let isBeforeFirst = firstInLimit.map { query.compare(new, $0) < 0 } ?? false
      if isBeyondLast || isBeforeFirst { needsRefill = true }
      return true
    }

    mutating func trim() {
      guard let limit = query.limit else { return }
      while documents.count > limit, let edge = query.limitType == .first ? documents.last : documents.first {
        documents.remove(edge.path)
        mutatedKeys.remove(edge.path)
        awaited[edge.path] = nil
        if !isInitial { changes.add(DocumentViewChange(.removed, edge)) }
      }
    }

    func result(needsRefill: Bool) -> DocumentChanges {
      DocumentChanges(
        documents: documents, changes: changes, mutatedKeys: mutatedKeys, awaited: awaited,
        needsRefill: needsRefill && !isRefill)
    }
  }

  // MARK: Applying changes

  /// Applies changes of documents and of the target.
  ///
  /// - Parameters:
  ///   - new: What `computeChanges` returned.
  ///   - target: The backend's message about the target.
  ///   - isPendingReset: Whether the documents of the target are about to be fetched again.
  ///   - version: The snapshot of the backend; zero for changes of the client's own.
  package mutating func apply(
    _ new: DocumentChanges, _ target: TargetUpdate? = nil, isPendingReset: Bool = false, version: Timestamp = .zero
  ) -> Outcome {
    self.version = max(self.version, version)
    let oldDocuments = documents
    let oldAwaited = awaited
    (documents, mutatedKeys, awaited) = (new.documents, new.mutatedKeys, new.awaited)
    // In order already: without documents before, each of those now is added.
    let changes =
      oldDocuments.isEmpty ? documents.map { DocumentViewChange(.added, $0) } : sorted(new.changes)
    if let target {
      if syncedKeys.isEmpty { syncedKeys = target.added } else { syncedKeys.formUnion(target.added) }
      syncedKeys.subtract(target.removed)
      isCurrent = target.isCurrent
    }
    isAwaitingReset = isPendingReset
    let limboChanges = updateLimbo(isPendingReset: isPendingReset) { touch in
      if oldDocuments.isEmpty { for document in new.documents { touch(document.path) } }
      for key in new.changes.changes.keys { touch(key) }
      for key in oldAwaited.keys { touch(key) }
      for key in target?.added ?? [] { touch(key) }
      for key in target?.removed ?? [] { touch(key) }
    }
    let newState: SyncState = limboKeys.isEmpty && isCurrent && !isPendingReset ? .synced : .local
    let stateChanged = newState != syncState
    syncState = newState
    guard !changes.isEmpty || stateChanged else { return Outcome(snapshot: nil, limboChanges: limboChanges) }
    let snapshot = ViewSnapshot(
      query: query, id: id, documents: documents, oldDocuments: oldDocuments, changes: changes,
      mutatedKeys: mutatedKeys, isFromCache: newState != .synced, syncStateChanged: stateChanged,
      excludesMetadataChanges: false, hasCachedResults: target.map { !$0.resumeToken.isEmpty } ?? false)
    return Outcome(snapshot: snapshot, limboChanges: limboChanges)
  }

  /// Whether snapshots of the backend concern the view that change none of its documents.
  ///
  /// An acknowledged write is awaited until a snapshot of its version, and documents enter limbo after a reset.
  package var followsEverySnapshot: Bool { !awaited.isEmpty || isAwaitingReset }

  /// Whether the query has as many results as its limit allows.
  var isFull: Bool { query.limit == documents.count }

  /// Whether a document is a result.
  func contains(_ key: DocumentKey) -> Bool { documents.contains(key) }

  /// The documents of acknowledged writes of which no snapshot has been seen, with the versions of the writes.
  var overdue: [DocumentKey: Timestamp] { awaited.filter { $0.value > version } }

  /// Whether a snapshot of an acknowledged write of a document has not been seen.
  func isOverdue(_ key: DocumentKey) -> Bool { awaited[key].map { $0 > version } ?? false }

  /// Whether a change of its target changes nothing but where to resume.
  func isTokenOnly(_ target: TargetUpdate) -> Bool {
    target.isCurrent == isCurrent && target.added.isEmpty && target.modified.isEmpty && target.removed.isEmpty
  }

  /// Notes that the client is offline: complete results may be outdated now.
  package mutating func becomeOffline() -> Outcome {
    guard isCurrent else { return Outcome(snapshot: nil, limboChanges: []) }
    isCurrent = false
    return apply(
      DocumentChanges(
        documents: documents, changes: DocumentChangeSet(), mutatedKeys: mutatedKeys, awaited: awaited,
        needsRefill: false))
  }

  /// The results as one snapshot in which every document is added.
  package var initialSnapshot: ViewSnapshot {
    ViewSnapshot(
      query: query, id: id, documents: documents, oldDocuments: DocumentSet(orders: query.orders),
      changes: documents.map { DocumentViewChange(.added, $0) }, mutatedKeys: mutatedKeys,
      isFromCache: syncState != .synced, syncStateChanged: true, excludesMetadataChanges: false,
      hasCachedResults: false)
  }

  private func sorted(_ set: DocumentChangeSet) -> [DocumentViewChange] {
    set.changes.values.sorted {
      $0.kind.order != $1.kind.order ? $0.kind < $1.kind : query.compare($0.document, $1.document) < 0
    }
  }

  /// Computes which documents are in limbo: of the ones that may have changed, or of all if that is not known.
  private mutating func updateLimbo(
    isPendingReset: Bool, _ forEachTouched: (_ touch: (DocumentKey) -> Void) -> Void
  ) -> [LimboChange] {
    guard isCurrent, !isPendingReset else {
      isLimboExact = false
      return []
    }
    let old = limboKeys
    if isLimboExact {
      var touched = old.union(awaited.keys)
      forEachTouched { touched.insert($0) }
      for key in touched {
        if let document = documents[key], isLimbo(document) { limboKeys.insert(key) } else { limboKeys.remove(key) }
      }
    } else {
      limboKeys = []
      for document in documents where isLimbo(document) { limboKeys.insert(document.path) }
      isLimboExact = true
    }
    if old == limboKeys { return [] }
    let removed = old.subtracting(limboKeys).sorted().map { LimboChange.removed($0) }
    return removed + limboKeys.subtracting(old).sorted(by: viewOrder).map { LimboChange.added($0) }
  }

  private func viewOrder(_ left: DocumentKey, _ right: DocumentKey) -> Bool {
    guard let first = documents[left], let second = documents[right] else { return left < right }
    return query.compare(first, second) < 0
  }

  private func isLimbo(_ document: CachedDocument) -> Bool {
    if syncedKeys.contains(document.path) { return false }
    guard document.hasLocalMutations else { return true }
    // A snapshot at the version of the write was received, and the target had no document to deliver.
    return awaited[document.path].map { $0 <= version } ?? false
  }
}
