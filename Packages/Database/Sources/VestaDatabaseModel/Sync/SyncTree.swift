public import VestaDatabaseBackend

/// Everything a client listens to, everything it has written, and the events that follow: a value without I/O.
///
/// Operations return the events to raise, in order. Requests to the service gather in
/// ``takeListenActions()``.
///
/// How an operation runs, by the example of `set(/a/b, 1)` while `/a` is listened to and the server's `/a` is `{b: 0}`:
/// the write tree gets a record, the operation is passed from the root to `/a`, where the view's processor replaces `b`
/// in the event cache and keeps the server cache, and raises `child_changed b` and `value`. The service's own `/a/b =
/// 1` then changes the server cache only, because the write shadows it; the acknowledgement removes the record, and as
/// server and event caches agree nothing is raised.
public struct SyncTree: Sendable {
  /// Something to ask of the service.
  public enum ListenAction: Sendable {
    /// Start to listen. A query that loads all data is listened to as the default query, without a tag.
    case start(DatabasePath, DatabaseQuerySpec, tag: Int?)
    /// Stop to listen.
    case stop(DatabasePath, DatabaseQuerySpec, tag: Int?)
  }

  struct QueryKey: Hashable, Sendable {
    let path: DatabasePath
    let spec: DatabaseQuerySpec
  }

  var root = SyncPoint()
  /// The writes that the service has not acknowledged.
  public internal(set) var writes = WriteTree()
  /// The data that is kept on this device; `nil` without persistence.
  public var cache: SyncCache?
  var tags: [QueryKey: Int] = [:]
  var queries: [Int: QueryKey] = [:]
  var lastTag = 0
  var listenActions: [ListenAction] = []

  /// A tree without listeners and writes.
  public init() {}

  /// Returns the listens to start and stop since the last call, in order.
  public mutating func takeListenActions() -> [ListenAction] {
    defer { listenActions = [] }
    return listenActions
  }

  /// The query of a tag.
  public func query(tag: Int) -> (path: DatabasePath, spec: DatabaseQuerySpec)? {
    queries[tag].map { ($0.path, $0.spec) }
  }

  /// The tag of a query; `nil` for one that is listened to without.
  public func tag(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> Int? { tags[QueryKey(path: path, spec: spec)] }

  /// Whether a query has listeners.
  public func isListened(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> Bool {
    root[path]?.view(for: spec) != nil
  }

  // MARK: Writes

  /// Applies a write of this client that replaces a node.
  public mutating func userOverwrite(
    _ path: DatabasePath, _ node: DatabaseNode, writeID: Int, isVisible: Bool = true
  ) -> [SyncEvent] {
    writes.add(.overwrite(node), at: path, id: writeID, isVisible: isVisible)
    return isVisible ? apply(SyncOperation(source: .user, path: path, kind: .overwrite(node))) : []
  }

  /// Applies a write of this client to several paths below a path.
  public mutating func userMerge(_ path: DatabasePath, _ trie: WriteTrie, writeID: Int) -> [SyncEvent] {
    writes.add(.merge(trie), at: path, id: writeID, isVisible: true)
    return apply(SyncOperation(source: .user, path: path, kind: .merge(trie)))
  }

  /// Ends a write, which the service has accepted or which is taken back.
  public mutating func acknowledge(writeID: Int, isRevert: Bool = false) -> [SyncEvent] {
    guard let record = writes.record(writeID) else { return [] }
    // What is kept already would replace data that the service has sent since.
    if !isRevert, !record.isKept { cache?.applyAcknowledged(record, isForListeners: false) }
    guard writes.remove(writeID) else { return [] }
    let kind = SyncOperation.Kind.acknowledge(record.affected, isRevert: isRevert)
    return apply(SyncOperation(source: .user, path: record.path, kind: kind))
  }

  /// Keeps the data of an accepted write on the device while the write itself still waits for its listeners.
  ///
  /// Its listeners have not been sent it, and may not be before the program ends.
  public mutating func keepAccepted(writeID: Int) {
    guard let record = writes.record(writeID), !record.isKept else { return }
    writes.keep(writeID)
    cache?.applyAcknowledged(record, isForListeners: true)
  }

  // MARK: The service

  /// Applies data that replaces a node, for a query or for all listeners.
  public mutating func serverOverwrite(_ path: DatabasePath, _ node: DatabaseNode, tag: Int? = nil) -> [SyncEvent] {
    serverUpdate(path, .overwrite(node), tag)
  }

  /// Applies data for several paths below a path, for a query or for all listeners.
  public mutating func serverMerge(_ path: DatabasePath, _ trie: WriteTrie, tag: Int? = nil) -> [SyncEvent] {
    serverUpdate(path, .merge(trie), tag)
  }

  /// Applies data that the service has sent in place of a node.
  ///
  /// Data without a tag is that of listens to everything. It can arrive when its listen has ended: then it is for the
  /// listens below that have begun instead, and for no query. A query's window has its own data; with all of another
  /// listen's it would show children that the service knows nothing of.
  public mutating func receivedOverwrite(_ path: DatabasePath, _ node: DatabaseNode, tag: Int?) -> [SyncEvent] {
    received(path, .overwrite(node), tag)
  }

  /// Applies data that the service has sent for several paths below a path.
  public mutating func receivedMerge(_ path: DatabasePath, _ trie: WriteTrie, tag: Int?) -> [SyncEvent] {
    received(path, .merge(trie), tag)
  }

  private mutating func received(_ path: DatabasePath, _ kind: SyncOperation.Kind, _ tag: Int?) -> [SyncEvent] {
    if tag != nil || known(path).1 { return serverUpdate(path, kind, tag) }
    guard let point = root[path] else { return [] }
    var sink = SyncSink()
    for part in point.parts(of: SyncOperation(source: .server, path: .root, kind: kind), at: path) {
      cache?.apply(part.operation.kind, at: part.path, spec: nil, queryPath: part.path)
      let below = writes.at(part.path)
      root.update(part.path) { $0.apply(part.operation, server: nil, writes: below, &sink) }
    }
    return finish(sink)
  }

  /// Applies data for ranges of the leaves of a path, in what is known of the server's data there.
  public mutating func serverRangeMerge(
    _ path: DatabasePath, _ merges: [DatabaseRangeMerge], tag: Int? = nil
  ) -> [SyncEvent] {
    let spec = tag.map { queries[$0]?.spec } ?? .all
    // A tag that is not known belongs to a listen that has ended since, and so does a path without the data.
    guard let spec, let known = knownServerNode(path, spec) else { return [] }
    return receivedOverwrite(path, CompoundHash.apply(merges, to: known), tag: tag)
  }

  /// The service has sent everything that a listen wants.
  public mutating func listenComplete(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> [SyncEvent] {
    cache?.complete(path, spec)
    if let tag = tag(path, spec) { return serverUpdate(path, .listenComplete, tag, isStored: true) }
    guard let point = root[path], let node = point.completeView?.cache.server.completeNode, point.lacks(node) else {
      return apply(SyncOperation(source: .server, path: path, kind: .listenComplete))
    }
    return share(node, at: path)
  }

  /// Applies all data of a path to the views at and below it.
  ///
  /// By the example of a query of `/a/b` without data and of a listen to everything there, which begins with the `b`
  /// that a query of `/a` has in its window: the service finds by the hash that the client has all of it, and sends
  /// none. The query of `/a/b` was sent nothing yet, and the service's data for it is dropped from here on. Where
  /// it has begun with the data of a window, too, it has missed the changes that were dropped.
  private mutating func share(_ node: DatabaseNode, at path: DatabasePath) -> [SyncEvent] {
    var sink = SyncSink()
    let operation = SyncOperation(source: .server, path: .root, kind: .overwrite(node))
    let below = writes.at(path)
    root.update(path) { $0.apply(operation, server: nil, writes: below, &sink) }
    return finish(sink)
  }

  private mutating func serverUpdate(
    _ path: DatabasePath, _ kind: SyncOperation.Kind, _ tag: Int?, isStored: Bool = false
  ) -> [SyncEvent] {
    guard let tag else {
      if !isStored { cache?.apply(kind, at: path, spec: nil, queryPath: path) }
      return apply(SyncOperation(source: .server, path: path, kind: kind))
    }
    // A tag that is not known belongs to a listen that has ended since.
    guard let query = queries[tag], let relative = query.path.relative(path), !hasAllData(query.path) else { return [] }
    if !isStored { cache?.apply(kind, at: path, spec: query.spec, queryPath: query.path) }
    let operation = SyncOperation(source: .query(query.spec), path: relative, kind: kind)
    var sink = SyncSink()
    let below = writes.at(query.path)
    root.update(query.path) { point in point.applyToViews(operation, nil, below, &sink) }
    return finish(sink)
  }

  /// Whether a listen to everything has all of a path's data: data of a query of the path adds nothing to it,
  /// and would narrow what the query's view knows to its window.
  private func hasAllData(_ path: DatabasePath) -> Bool {
    var point = root
    var rest = path
    while true {
      if point.completeView?.cache.server.isComplete == true { return true }
      guard let front = rest.front, let next = point.children[front] else { return false }
      point = next
      rest = rest.withoutFront
    }
  }

  /// Applies an operation at its path, seen from the root.
  private mutating func apply(_ operation: SyncOperation) -> [SyncEvent] {
    var sink = SyncSink()
    root.apply(operation, server: nil, writes: writes.at(.root), &sink)
    return finish(sink)
  }

  private mutating func finish(_ sink: SyncSink) -> [SyncEvent] {
    for (path, spec, changes) in sink.filteredChanges { cache?.updateKeys(path, spec, changes) }
    return sink.events
  }

  // MARK: Reading

  /// Returns the data of a path as this client sees it, hidden writes included; `nil` when it is not known.
  public func node(at path: DatabasePath, excluding excluded: Set<Int> = []) -> DatabaseNode? {
    writes.completeNode(at: path, server: known(path).0?.node, excluding: excluded, includesHidden: true)
  }

  /// Returns the complete data of a query that a view knows; `nil` when none does.
  public func completeEventNode(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> IndexedNode? {
    if let view = root[path]?.view(for: spec), view.cache.event.isComplete { return view.cache.event.indexed }
    var point = root
    var rest = path
    while true {
      for view in point.views.values where view.cache.event.isComplete {
        let node = view.cache.event.node
        let isKnown = view.spec.loadsAllData || rest.front.map { !node[$0].isEmpty } ?? false
        if isKnown {
          let filter = NodeFilter(spec: spec)
          let wanted = filter.filtersNodes ? filter.window(of: node[rest]) : node[rest]
          return IndexedNode(wanted, index: spec.index)
        }
      }
      guard let front = rest.front, let next = point.children[front] else { return nil }
      point = next
      rest = rest.withoutFront
    }
  }

  /// The data that the service need not send for a listen, if it still has it; `nil` where not all of it is known.
  public func knownServerNode(_ path: DatabasePath, _ spec: DatabaseQuerySpec) -> DatabaseNode? {
    let point = root[path]
    let view = spec.loadsAllData ? point?.completeView : point?.view(for: spec)
    return view?.cache.server.completeNode
  }

  /// The listens that the service has to have, with their tags: they are sent after a new connection.
  public var listens: [(path: DatabasePath, spec: DatabaseQuerySpec, tag: Int?)] {
    root.distinctViews.map { ($0.path, $0.spec.loadsAllData ? .all : $0.spec, tag($0.path, $0.spec)) }
  }
}
