import VestaFirestoreBackend
package import VestaFirestoreModel

/// The views of a client's queries, the targets that they share, and which views an event concerns.
///
/// A view is concerned by a changed document that its query looks at, by news of its target, and, while it is
/// *unsettled*, by every snapshot of the backend. Thousands of other views cost an event nothing.
///
/// Worked example: two views, of all `rooms` (target 2) and of `halls` (target 4), both settled. A snapshot changes
/// `rooms/a` and brings target 4 a token alone: the first view is concerned, with one document, and the second is not.
/// A write of `rooms/a` is acknowledged: the first view awaits a snapshot of it and is unsettled. The next snapshot
/// concerns it, whatever has changed.
package struct ViewTable {
  /// A query with its view and its target.
  struct Entry {
    let query: LocalQuery
    let target: Int32
    var view: QueryView
    /// How many snapshots of the backend there had been when the view began.
    let begun: Int
  }

  /// A view, and the changed documents that its query looks at.
  struct Concerned {
    let id: QueryID
    let target: Int32
    fileprivate let place: Int
    let changed: [DocumentKey: CachedDocument]
  }

  private(set) var entries: [QueryID: Entry] = [:]
  /// The queries of each target: two of them, of the first and of the last results, can have one target.
  private(set) var queries: [Int32: [QueryID]] = [:]
  /// The views that follow every snapshot of the backend.
  private(set) var unsettled: Set<QueryID> = []
  private(set) var index = ViewIndex()
  /// The version of the last snapshot of the backend, and how many there have been.
  var lastSnapshot = (version: Timestamp.zero, count: 0)

  init() {}

  /// The queries in the order of their targets.
  private var ordered: [QueryID] { queries.keys.sorted().flatMap { queries[$0] ?? [] } }

  /// The number of the target of a query.
  package func target(of query: LocalQuery) -> Int32? { entries[QueryID(query)]?.target }

  // MARK: Views

  mutating func insert(_ view: QueryView, of query: LocalQuery, _ id: QueryID, target: Int32) {
    entries[id] = Entry(query: query, target: target, view: view, begun: lastSnapshot.count)
    index.insert(query, id)
    queries[target, default: []].append(id)
  }

  /// Forgets a view, but not yet its target.
  mutating func remove(_ id: QueryID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    index.remove(entry.query, id)
    unsettled.remove(id)
    queries[entry.target]?.removeAll { $0 == id }
  }

  /// Forgets a target with its views.
  ///
  /// - Returns: The queries that it had.
  mutating func removeAll(of target: Int32) -> [QueryID] {
    let ids = queries.removeValue(forKey: target) ?? []
    for id in ids { remove(id) }
    return ids
  }

  // MARK: Events

  /// Notes a snapshot of the backend; one without a version is not the backend's.
  mutating func note(_ version: Timestamp) {
    guard version > .zero else { return }
    lastSnapshot = (max(lastSnapshot.version, version), lastSnapshot.count + 1)
  }

  /// The views that an event concerns, in the order of their targets.
  func concerned(by changed: [DocumentKey: CachedDocument], _ event: RemoteEvent?) -> [Concerned] {
    var concerned: [QueryID: [DocumentKey: CachedDocument]] = [:]
    if let id = index.only(lookingAt: changed.keys) {
      concerned[id] = changed
    } else {
      for (key, document) in changed {
        index.forEach(lookingAt: key) { concerned[$0, default: [:]][key] = document }
      }
    }
    for id in self.concerned(by: event) where concerned[id] == nil { concerned[id] = [:] }
    let list = concerned.compactMap { id, documents -> Concerned? in
      guard let target = entries[id]?.target, let place = queries[target]?.firstIndex(of: id) else { return nil }
      return Concerned(id: id, target: target, place: place, changed: documents)
    }
    return list.sorted { ($0.target, $0.place) < ($1.target, $1.place) }
  }

  /// The views that an event concerns, whichever documents have changed.
  private func concerned(by event: RemoteEvent?) -> Set<QueryID> {
    guard let event else { return [] }
    var concerned = unsettled
    for (target, change) in event.targetChanges {
      for id in queries[target] ?? [] where entries[id]?.view.isTokenOnly(change) == false { concerned.insert(id) }
    }
    for target in event.targetMismatches.keys { concerned.formUnion(queries[target] ?? []) }
    return concerned
  }

  /// Applies changes of documents and of the target to a view.
  mutating func apply(_ changes: QueryView.DocumentChanges, to id: QueryID, _ event: RemoteEvent?) -> QueryView.Outcome?
  {
    guard let target = entries[id]?.target, let begun = entries[id]?.begun else { return nil }
    let version = seenVersion(begun: begun)
    let outcome = entries[id]?.view.apply(
      changes, event?.targetChanges[target], isPendingReset: event?.targetMismatches[target] != nil, version: version)
    settle(id)
    return outcome
  }

  /// Applies the first results of a query to its view.
  ///
  /// - Returns: `nil` when the view has documents.
  mutating func applyFirst(_ results: FirstResults, to id: QueryID) -> QueryView.Outcome? {
    guard let begun = entries[id]?.begun else { return nil }
    let version = seenVersion(begun: begun)
    guard let outcome = entries[id]?.view.applyFirst(results.documents, results.update, version: version) else {
      return nil
    }
    settle(id)
    return outcome
  }

  /// Notes that the client is offline: complete results may be outdated now.
  ///
  /// - Returns: The snapshots that say so.
  mutating func becomeOffline() -> [ViewSnapshot] {
    ordered.compactMap { id in
      guard let snapshot = entries[id]?.view.becomeOffline().snapshot else { return nil }
      settle(id)
      return snapshot
    }
  }

  /// The version of the last snapshot of the backend that a view has seen.
  ///
  /// - Parameter begun: How many there had been when the view began.
  func seenVersion(begun: Int) -> Timestamp { begun < lastSnapshot.count ? lastSnapshot.version : .zero }

  /// Notes whether a view follows every snapshot of the backend.
  private mutating func settle(_ id: QueryID) {
    if entries[id]?.view.followsEverySnapshot == true { unsettled.insert(id) } else { unsettled.remove(id) }
  }

  // MARK: Questions

  /// The documents of a target that the backend has sent.
  func syncedKeys(of target: Int32) -> Set<DocumentKey> {
    let ids = queries[target] ?? []
    if ids.count == 1 { return entries[ids[0]]?.view.syncedKeys ?? [] }
    return ids.reduce(into: []) { $0.formUnion(entries[$1]?.view.syncedKeys ?? []) }
  }

  /// Whether the backend has sent a document of a target.
  func hasSyncedKey(of target: Int32, _ key: DocumentKey) -> Bool {
    queries[target]?.contains { entries[$0]?.view.syncedKeys.contains(key) ?? false } ?? false
  }

  /// Whether a view of a target has a document in limbo.
  func hasInLimbo(_ key: DocumentKey, _ target: Int32) -> Bool {
    queries[target]?.contains { entries[$0]?.view.limboKeys.contains(key) ?? false } ?? false
  }

  /// Whether a view of a target that is followed looks at a document, and whether one of them awaits its results.
  func following(
    _ key: DocumentKey, isTarget: (Int32) -> Bool
  ) -> (isFollowed: Bool, isAwaited: Bool) {
    var (isFollowed, isAwaited) = (false, false)
    index.forEach(lookingAt: key) { id in
      guard let entry = entries[id], isTarget(entry.target) else { return }
      isFollowed = true
      if !entry.view.isCurrent { isAwaited = true }
    }
    return (isFollowed, isAwaited)
  }

  /// The documents of acknowledged writes of which no snapshot has been seen, with the versions of the writes.
  ///
  /// - Parameter isIncluded: Which queries count.
  func overdue(where isIncluded: (QueryID) -> Bool) -> [DocumentKey: Timestamp] {
    unsettled.reduce(into: [:]) { overdue, id in
      if isIncluded(id) { overdue.merge(entries[id]?.view.overdue ?? [:]) { max($0, $1) } }
    }
  }

  /// Whether there are such documents.
  func hasOverdue(where isIncluded: (QueryID) -> Bool) -> Bool {
    unsettled.contains { entries[$0]?.view.overdue.isEmpty == false && isIncluded($0) }
  }

  /// Whether a view awaits a snapshot of an acknowledged write of a document.
  func isOverdue(_ key: DocumentKey) -> Bool { unsettled.contains { entries[$0]?.view.isOverdue(key) == true } }
}
