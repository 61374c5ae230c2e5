package import VestaFirestoreBackend
import VestaFirestoreModel

/// A listener's number, unique in its client.
package typealias ListenerID = Int

/// The events that a listener wants to receive.
package struct ListenOptions: Sendable, Hashable {
  /// Whether changes of the query's metadata alone are events.
  package var includesQueryMetadata = false
  /// Whether changes of documents' metadata alone are events.
  package var includesDocumentMetadata = false
  /// Whether the first event waits for the backend while the client is online.
  package var waitsForSync = false
  /// Whether only the cache is used.
  package var isCacheOnly = false
  /// Whether the thread that adds the listener waits for the first event; it may work for it then.
  package var isAwaited = false

  /// Options.
  package init(includesMetadata: Bool = false, waitsForSync: Bool = false, isCacheOnly: Bool = false) {
    includesQueryMetadata = includesMetadata
    includesDocumentMetadata = includesMetadata
    self.waitsForSync = waitsForSync
    self.isCacheOnly = isCacheOnly
  }
}

/// Decides which of a view's snapshots a listener receives.
package struct QueryListener: Sendable {
  let id: ListenerID
  let options: ListenOptions
  private var onlineState = OnlineState.unknown
  private var hasRaisedFirst = false
  private var last: ViewSnapshot?

  init(id: ListenerID, options: ListenOptions) {
    self.id = id
    self.options = options
  }

  /// Takes a snapshot; returns what the listener receives.
  mutating func receive(_ snapshot: ViewSnapshot) -> ViewSnapshot? {
    let snapshot = options.includesDocumentMetadata ? snapshot : snapshot.withoutMetadataChanges()
    defer { last = snapshot }
    if hasRaisedFirst { return shouldRaise(snapshot) ? snapshot : nil }
    return raiseFirst(snapshot)
  }

  /// Takes a change of the online state; returns what the listener receives.
  mutating func receive(_ state: OnlineState) -> ViewSnapshot? {
    onlineState = state
    guard let last, !hasRaisedFirst else { return nil }
    return raiseFirst(last)
  }

  private mutating func raiseFirst(_ snapshot: ViewSnapshot) -> ViewSnapshot? {
    guard shouldRaiseFirst(snapshot) else { return nil }
    hasRaisedFirst = true
    return snapshot.initial(excludesMetadataChanges: snapshot.excludesMetadataChanges)
  }

  private func shouldRaiseFirst(_ snapshot: ViewSnapshot) -> Bool {
    if !snapshot.isFromCache || options.isCacheOnly { return true }
    let isOffline = onlineState == .offline
    if options.waitsForSync, !isOffline { return false }
    return !snapshot.documents.isEmpty || snapshot.hasCachedResults || isOffline
  }

  private func shouldRaise(_ snapshot: ViewSnapshot) -> Bool {
    if !snapshot.changes.isEmpty { return true }
    let pendingChanged = last.map { $0.hasPendingWrites != snapshot.hasPendingWrites } ?? false
    return (snapshot.syncStateChanged || pendingChanged) && options.includesQueryMetadata
  }
}

/// The listeners of all queries, and which event each receives.
package struct EventMachine: Sendable {
  /// The consequence for the sync engine of adding or removing a listener.
  enum Demand: Sendable, Hashable {
    case nothing
    /// Begin or end the view.
    case local
    /// Begin or end the view and the target of the backend.
    case localAndRemote
    /// Begin or end the target of the backend; the view stays.
    case remote
  }

  /// The events of listeners, in order.
  package enum Event: Sendable {
    case snapshot(ListenerID, ViewSnapshot)
    case failure(ListenerID, FirestoreServiceError)
    case inSync(ListenerID)
  }

  private struct Info {
    let query: LocalQuery
    var listeners: [QueryListener] = []
    var snapshot: ViewSnapshot?
    var isRemote: Bool { listeners.contains { !$0.options.isCacheOnly } }
  }

  private var infos: [QueryID: Info] = [:]
  private var queryOfListener: [ListenerID: QueryID] = [:]
  private var syncListeners: [ListenerID] = []
  private var onlineState = OnlineState.unknown

  /// A machine without listeners.
  package init() {}

  /// The query of a listener.
  func query(of listener: ListenerID) -> LocalQuery? { queryOfListener[listener].flatMap { infos[$0]?.query } }

  /// Whether any listener of a query asks the backend.
  func isRemote(_ id: QueryID) -> Bool { infos[id]?.isRemote ?? false }

  /// Adds a listener.
  mutating func add(
    _ id: ListenerID, to query: LocalQuery, _ queryID: QueryID, _ options: ListenOptions
  ) -> (demand: Demand, events: [Event]) {
    let isFirst = infos[queryID] == nil
    var info = infos[queryID] ?? Info(query: query)
    let wasRemote = info.isRemote
    var listener = QueryListener(id: id, options: options)
    _ = listener.receive(onlineState)
    var events: [Event] = []
    if let snapshot = info.snapshot, let event = listener.receive(snapshot) { events.append(.snapshot(id, event)) }
    info.listeners.append(listener)
    infos[queryID] = info
    queryOfListener[id] = queryID
    if !events.isEmpty { events += syncEvents }
    if isFirst { return (options.isCacheOnly ? .local : .localAndRemote, events) }
    return (!wasRemote && !options.isCacheOnly ? .remote : .nothing, events)
  }

  /// Removes a listener; an unknown one is ignored.
  mutating func remove(_ id: ListenerID) -> (query: LocalQuery, id: QueryID, demand: Demand)? {
    guard let queryID = queryOfListener.removeValue(forKey: id), var info = infos[queryID] else { return nil }
    let wasRemote = info.isRemote
    info.listeners.removeAll { $0.id == id }
    guard info.listeners.isEmpty else {
      infos[queryID] = info
      return (info.query, queryID, wasRemote && !info.isRemote ? .remote : .nothing)
    }
    infos[queryID] = nil
    return (info.query, queryID, wasRemote ? .localAndRemote : .local)
  }

  /// Takes the snapshots of one change together.
  mutating func receive(_ snapshots: [ViewSnapshot]) -> [Event] {
    var events: [Event] = []
    for snapshot in snapshots {
      guard var info = infos[snapshot.id] else { continue }
      info.snapshot = snapshot
      for index in info.listeners.indices {
        guard let event = info.listeners[index].receive(snapshot) else { continue }
        events.append(.snapshot(info.listeners[index].id, event))
      }
      infos[snapshot.id] = info
    }
    return events.isEmpty ? [] : events + syncEvents
  }

  /// Takes the failure of a query: its listeners are notified and removed.
  mutating func fail(_ id: QueryID, _ error: FirestoreServiceError) -> [Event] {
    guard let info = infos.removeValue(forKey: id) else { return [] }
    for listener in info.listeners { queryOfListener[listener.id] = nil }
    return info.listeners.map { .failure($0.id, error) }
  }

  /// Takes a change of the online state.
  mutating func receive(_ state: OnlineState) -> [Event] {
    onlineState = state
    var events: [Event] = []
    for id in infos.keys {
      for index in infos[id]?.listeners.indices ?? 0..<0 {
        guard let event = infos[id]?.listeners[index].receive(state), let listener = infos[id]?.listeners[index].id
        else { continue }
        events.append(.snapshot(listener, event))
      }
    }
    return events.isEmpty ? [] : events + syncEvents
  }

  /// Adds a listener that is notified when all listeners agree; it is notified at once.
  mutating func addSyncListener(_ id: ListenerID) -> [Event] {
    syncListeners.append(id)
    return [.inSync(id)]
  }

  /// Removes such a listener.
  mutating func removeSyncListener(_ id: ListenerID) { syncListeners.removeAll { $0 == id } }

  private var syncEvents: [Event] { syncListeners.map { .inSync($0) } }
}
