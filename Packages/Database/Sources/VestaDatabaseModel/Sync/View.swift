import VestaDatabaseBackend

/// The data and the listeners of one query at one path.
struct View: Sendable {
  let path: DatabasePath
  let spec: DatabaseQuerySpec
  private(set) var registrations = OrderedTable<Int, SyncRegistration>()
  private(set) var cache: ViewCache
  private let filter: NodeFilter

  init(path: DatabasePath, spec: DatabaseQuerySpec, server: ServerData, event: (node: DatabaseNode, isComplete: Bool)) {
    self.path = path
    self.spec = spec
    filter = NodeFilter(spec: spec)
    cache = ViewCache(
      event: CacheNode(
        indexed: filter.full(event.node), isComplete: event.isComplete,
        isFiltered: filter.filtersNodes),
      server: CacheNode(
        indexed: IndexedNode(server.node, index: spec.index), isComplete: server.isComplete,
        isFiltered: server.isFiltered))
  }

  /// Returns the server's complete data that another path can take from this view; `nil` when it is not known.
  func completeServerNode(at path: DatabasePath) -> DatabaseNode? {
    guard let node = cache.server.completeNode else { return nil }
    if spec.loadsAllData { return node[path] }
    guard let front = path.front, !node[front].isEmpty else { return nil }
    return node[path]
  }

  mutating func add(_ registration: SyncRegistration) { registrations.append(registration, for: registration.id) }

  /// Removes a listener, or all of them.
  mutating func remove(_ id: Int?) -> [SyncRegistration] {
    if let id { return registrations.remove(id).map { [$0] } ?? [] }
    defer { registrations = OrderedTable() }
    return Array(registrations.values)
  }

  mutating func apply(
    _ operation: SyncOperation, writes: WritesBelow, completeServer: DatabaseNode?
  ) -> (events: [SyncEvent], changes: [ChildChange]) {
    var processor = ViewProcessor(filter: filter, writes: writes, completeServer: completeServer)
    let old = cache
    cache = processor.apply(operation, to: old)
    let changes = processor.changes.all
    let listeners = registrations.values
    var events = childEvents(changes, for: listeners)
    if isValueChanged(from: old, hasChanges: !changes.isEmpty) { events += valueEvents(for: listeners) }
    return (events, changes)
  }

  /// Returns the events for a new listener of the data that is known already.
  func initialEvents(for registration: SyncRegistration) -> [SyncEvent] {
    var events: [SyncEvent] = []
    if registration.kinds.contains(.childAdded) {
      var previous: DatabaseKey?
      cache.event.indexed.visitChildren { key, node in
        events.append(event(registration, .childAdded, key, node, previous))
        previous = key
        return true
      }
    }
    return cache.event.isComplete ? events + valueEvents(for: [registration]) : events
  }

  private func isValueChanged(from old: ViewCache, hasChanges: Bool) -> Bool {
    let event = cache.event
    guard event.isComplete else { return false }
    if hasChanges || !old.event.isComplete { return true }
    if event.node.childCount == 0, event.node != old.event.node { return true }
    return event.node.priority != old.event.node.priority
  }

  private func valueEvents(for registrations: some Sequence<SyncRegistration>) -> [SyncEvent] {
    registrations.filter { $0.kinds.contains(.value) }.map { registration in
      SyncEvent(
        registration: registration.id, path: path, spec: spec,
        content: .data(.value, key: nil, node: cache.event.indexed, previousKey: nil))
    }
  }

  private func childEvents(_ changes: [ChildChange], for registrations: some Sequence<SyncRegistration>) -> [SyncEvent]
  {
    if changes.isEmpty || registrations.allSatisfy({ $0.kinds.isSubset(of: [.value]) }) { return [] }
    var kinds: [SyncEventKind: [ChildChange]] = [:]
    for change in changes {
      switch change.kind {
      case .removed: kinds[.childRemoved, default: []].append(change)
      case .added: kinds[.childAdded, default: []].append(change)
      case .changed:
        kinds[.childChanged, default: []].append(change)
        if spec.index.isMoved(from: change.old, to: change.node) { kinds[.childMoved, default: []].append(change) }
      }
    }
    var events: [SyncEvent] = []
    for kind in SyncEventKind.allCases where registrations.contains(where: { $0.kinds.contains(kind) }) {
      let ordered = (kinds[kind] ?? []).map { (spec.index.position(of: $0.key, $0.node), $0) }
      for (position, change) in ordered.sorted(by: { $0.0 < $1.0 }) {
        let previous = kind == .childRemoved ? nil : cache.event.indexed.child(before: position)?.key
        for registration in registrations where registration.kinds.contains(kind) {
          events.append(event(registration, kind, change.key, change.node, previous))
        }
      }
    }
    return events
  }

  private func event(
    _ registration: SyncRegistration, _ kind: SyncEventKind, _ key: DatabaseKey, _ node: DatabaseNode,
    _ previous: DatabaseKey?
  ) -> SyncEvent {
    // The children of a child are in the order of priorities, whatever the query orders its children by.
    SyncEvent(
      registration: registration.id, path: path, spec: spec,
      content: .data(kind, key: key, node: IndexedNode(node, index: .priority), previousKey: previous))
  }
}

/// The known server data with which a view begins.
struct ServerData: Sendable {
  var node: DatabaseNode
  var isComplete: Bool
  var isFiltered: Bool
}
