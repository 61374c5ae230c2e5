public import VestaDatabaseBackend

/// Listeners of the sync tree, and the listens at the service that they want.
extension SyncTree {
  /// Adds a listener.
  ///
  /// - Returns: Its events for the data that is known already.
  public mutating func add(
    _ registration: SyncRegistration, at path: DatabasePath, _ spec: DatabaseQuerySpec
  ) -> [SyncEvent] {
    let (shared, isCovered) = known(path)
    var server = shared
    let exists = root[path]?.view(for: spec) != nil
    cache?.setActive(path, spec, true)
    if server == nil, !exists { server = cachedOrPartial(path, spec) }
    if !exists, !spec.loadsAllData { makeTag(path, spec) }
    let below = writes.at(path)
    let data = server ?? ServerData(node: .empty, isComplete: false, isFiltered: false)
    let events = root.update(path) { point in
      point.addRegistration(registration, path, spec, data, below)
    }
    if !exists, !spec.loadsAllData, let view = root[path]?.view(for: spec) {
      cache?.setKeys(path, spec, view.cache.event.node)
    }
    if !exists, !isCovered { startListening(path, spec) }
    return events
  }

  /// Returns the data of a path that views from the root to it know, and whether one of them listens to all of it.
  ///
  /// The data of a listen to everything precedes that of a query's window above it, which can be older: what it has
  /// missed is sent for the query alone, and a view below the listen would not get it.
  func known(_ path: DatabasePath) -> (ServerData?, Bool) {
    var point = root
    var rest = path
    var node: DatabaseNode?
    var (isCovered, isFollowed) = (false, false)
    while true {
      if !isFollowed, let all = point.completeServerNode(at: .root) {
        (node, isFollowed) = (all[rest], true)
      } else if node == nil {
        node = point.completeServerNode(at: rest)
      }
      isCovered = isCovered || point.hasCompleteView
      guard let front = rest.front, let next = point.children[front] else {
        return (node.map { ServerData(node: $0, isComplete: true, isFiltered: false) }, isCovered)
      }
      point = next
      rest = rest.withoutFront
    }
  }

  /// Returns the kept data of a path, or the data that the views of its children know.
  private func cachedOrPartial(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> ServerData {
    let kept = cache?.serverData(path, spec)
    if let kept, kept.isComplete { return kept }
    var node = DatabaseNode.empty
    for (key, point) in root[path]?.children ?? [:] {
      if let child = point.completeServerNode(at: .root) { node = node.setting(key, to: child) }
    }
    kept?.node.forEachChild { key, child in if node[key].isEmpty { node = node.setting(key, to: child) } }
    return ServerData(node: node, isComplete: false, isFiltered: false)
  }

  private mutating func makeTag(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    let key = QueryKey(path: path, spec: spec)
    lastTag += 1
    tags[key] = lastTag
    queries[lastTag] = key
  }

  private mutating func startListening(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    start(path, spec)
    guard spec.loadsAllData, let point = root[path] else { return }
    for view in point.shadowedViews { stop(view.path, view.spec) }
  }

  private mutating func start(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    listenActions.append(.start(path, spec.loadsAllData ? .all : spec, tag: tag(path, spec)))
  }

  /// Starts the listen of a view that another listen has covered.
  ///
  /// A query gets another tag: what its earlier listen was sent, and has not arrived yet, must not change the data
  /// whose hash the service compares. By the example of `{k: 1}`, a commit that removes `k` and one that restores it:
  /// the first is still on its way when the listen starts again with the hash of `{k: 1}`, which is right after the
  /// second.
  private mutating func startAgain(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    if tag(path, spec) != nil {
      dropTag(path, spec)
      makeTag(path, spec)
    }
    start(path, spec)
  }

  private mutating func stop(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    listenActions.append(.stop(path, spec.loadsAllData ? .all : spec, tag: tag(path, spec)))
  }

  /// Removes a listener, or all listeners of a query.
  ///
  /// - Parameters:
  ///   - id: The listener; `nil` for all.
  ///   - path: The location of the query.
  ///   - spec: The query; the default one means all queries of the location.
  ///   - cancellation: Why the service has ended the listen; `nil` when the client ends it.
  /// - Returns: For a cancellation, the event of each listener.
  public mutating func remove(
    _ id: Int?, at path: DatabasePath, _ spec: DatabaseQuerySpec,
    cancellation: (status: String, message: String)? = nil
  ) -> [SyncEvent] {
    // Nothing of the point is kept: a copy of all its views would be made when one of them changes.
    guard spec.isDefault ? root[path] != nil : isListened(path, spec) else { return [] }
    let hadCompleteView = root[path]?.hasCompleteView == true
    var (removedViews, events): ([DatabaseQuerySpec], [SyncEvent]) = root.update(path) { point in
      point.removeRegistrations(id, path, spec.isDefault ? nil : spec, cancellation)
    }
    let lostCompleteView = hadCompleteView && root[path]?.hasCompleteView != true
    let ended = removedViews
    removedViews.removeAll { $0.loadsAllData }
    for view in ended { cache?.setActive(path, view, false) }
    defer { for view in removedViews { dropTag(path, view) } }
    guard !known(path).1 else { return events }
    if lostCompleteView {
      for view in root[path]?.distinctViews ?? [] { startAgain(view.path, view.spec) }
    }
    guard cancellation == nil else { return events }
    if lostCompleteView {
      listenActions.append(.stop(path, .all, tag: nil))
    } else {
      for view in removedViews { stop(path, view) }
    }
    return events
  }

  private mutating func dropTag(_ path: DatabasePath, _ spec: DatabaseQuerySpec) {
    guard let tag = tags.removeValue(forKey: QueryKey(path: path, spec: spec)) else { return }
    queries[tag] = nil
  }
}

extension SyncPoint {
  mutating func addRegistration(
    _ registration: SyncRegistration, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ server: ServerData,
    _ writes: WritesBelow
  ) -> [SyncEvent] {
    let known = updateView(spec) { view in
      view.add(registration)
      return view.initialEvents(for: registration)
    }
    if let known { return known }
    let complete = writes.completeNode(server: server.isComplete ? server.node : nil)
    let event =
      complete.map { (node: $0, isComplete: true) }
      ?? (node: writes.completeChildren(server: server.node), isComplete: false)
    var view = View(path: path, spec: spec, server: server, event: event)
    view.add(registration)
    add(view)
    return view.initialEvents(for: registration)
  }

  /// Removes listeners from one view, or from all of them.
  ///
  /// - Returns: The queries without a listener, and the events of a cancellation.
  mutating func removeRegistrations(
    _ id: Int?, _ path: DatabasePath, _ spec: DatabaseQuerySpec?, _ cancellation: (status: String, message: String)?
  ) -> ([DatabaseQuerySpec], [SyncEvent]) {
    var ended: [DatabaseQuerySpec] = []
    var events: [SyncEvent] = []
    for spec in spec.map({ [$0] }) ?? views.values.map(\.spec) {
      let removed = updateView(spec) { ($0.remove(id), $0.registrations.isEmpty) }
      guard let (removed, isEmpty) = removed else { continue }
      if isEmpty {
        ended.append(spec)
        removeView(spec)
      }
      guard let cancellation else { continue }
      for registration in removed {
        events.append(
          SyncEvent(
            registration: registration.id, path: path, spec: spec,
            content: .cancelled(status: cancellation.status, message: cancellation.message)))
      }
    }
    return (ended, events)
  }
}
