import VestaDatabaseBackend
import VestaDatabaseModel

/// The data of a client as its observers see it, and the observers; pure.
///
/// Data of the service and of the program's writes meet in the sync tree (``tree``); the values of the library below
/// `.info` are in a second, private tree. Both raise events for observers by their numbers; ``calls(for:)`` turns these
/// into calls.
///
/// Worked example: an observer of `/a` is added, which has the number 3; the service has sent no data yet.
///
/// | step | result |
/// |---|---|
/// | `add(3)` | no events; the tree wants `/a` listened to |
/// | `tree.receivedOverwrite(/a, 1)` | an event for 3 |
/// | `calls(for: events)` | one call; an observer of one event is removed with it |
/// | `show(write 8: /a = 2)` | an event for 3, before the service has the write |
/// | `tree.acknowledge(8, isRevert: true)` | an event for 3 with 1 again: the service has refused the write |
struct ClientTree: Sendable {
  /// Calls of observers, and the observers that have ended with them.
  struct Calls: Sendable {
    var bodies: [@Sendable () -> Void] = []
    var ended: [Observer] = []
  }

  var tree = SyncTree()
  /// The observers by their numbers.
  private(set) var observers: [Int: Observer] = [:]
  /// The queries that are listened to without an observer of the program, and the numbers of their silent ones.
  private(set) var keptSynced: [SyncQuery: Int] = [:]
  private var info = SyncTree()
  private var infoValues: [DatabaseKey: DatabaseNode] = [.init("connected"): DatabaseNode(.bool(false))]
  private var lastWriteID = 0

  private static let infoRoot = DatabaseKey(".info")

  // MARK: Observers

  /// Adds an observer.
  ///
  /// - Returns: The data that is known already, for this observer.
  mutating func add(_ observer: Observer) -> [SyncEvent] {
    observers[observer.id] = observer
    let registration = SyncRegistration(id: observer.id, kinds: observer.kinds)
    guard observer.path.front == Self.infoRoot else {
      return tree.add(registration, at: observer.path, observer.spec)
    }
    defer { _ = info.takeListenActions() }
    return info.add(registration, at: observer.path, observer.spec) + raiseInfo(below: observer.path)
  }

  /// Removes an observer, whose calls have ended already.
  mutating func remove(_ observer: Observer) {
    guard observers.removeValue(forKey: observer.id) != nil else { return }
    if observer.path.front == Self.infoRoot {
      _ = info.remove(observer.id, at: observer.path, observer.spec)
      _ = info.takeListenActions()
    } else {
      _ = tree.remove(observer.id, at: observer.path, observer.spec)
    }
  }

  /// Removes an observer of the library.
  mutating func remove(_ id: Int) {
    guard let observer = observers[id] else { return }
    observer.silence()
    remove(observer)
  }

  /// Removes all observers, and returns them in the order in which they were added.
  mutating func removeAll() -> [Observer] {
    defer { observers = [:] }
    return observers.values.sorted { $0.id < $1.id }
  }

  /// Keeps a query listened to without an observer, or no longer.
  ///
  /// - Returns: The silent observer that is to be added.
  mutating func keepSynced(_ query: SyncQuery, _ isSynced: Bool, id: Int) -> Observer? {
    if isSynced, keptSynced[query] == nil {
      keptSynced[query] = id
      return .silent(id, at: query.path, query.spec)
    }
    if !isSynced, let id = keptSynced.removeValue(forKey: query) { remove(id) }
    return nil
  }

  /// Ends the observers of a query that the service does not serve.
  mutating func cancel(_ query: SyncQuery, _ status: DatabaseStatus, _ message: String) -> [SyncEvent] {
    tree.remove(nil, at: query.path, query.spec, cancellation: (status.rawValue, message))
  }

  /// The calls of the observers for events, in order; observers that end with their call are removed.
  mutating func calls(for events: [SyncEvent]) -> Calls {
    var calls = Calls()
    for event in events {
      guard let observer = observers[event.registration] else { continue }
      switch event.content {
      case .data(let kind, let key, let node, let previous):
        let path = key.map { event.path.child($0) } ?? event.path
        let raised = RaisedEvent(kind: kind, path: path, node: node, previousKey: previous?.text)
        calls.bodies.append { observer.raise(raised) }
        guard observer.isOnce else { continue }
        remove(observer)
      case .cancelled(let status, let message):
        observers[observer.id] = nil
        keptSynced = keptSynced.filter { $0.value != observer.id }
        let error = DatabaseError(status: DatabaseStatus(rawValue: status), message: message)
        calls.bodies.append { observer.cancel(error) }
      }
      calls.ended.append(observer)
    }
    return calls
  }

  // MARK: Values of the library

  /// The value at a path below `.info`; `nil` for another path.
  func infoNode(at path: DatabasePath) -> DatabaseNode? {
    guard path.front == Self.infoRoot else { return nil }
    return infoValues[path.withoutFront.front ?? .minimum] ?? .empty
  }

  /// Sets a value below `.info`.
  mutating func setInfo(_ key: DatabaseKey, _ node: DatabaseNode) -> [SyncEvent] {
    infoValues[key] = node
    return info.serverOverwrite(DatabasePath([Self.infoRoot, key]), node)
  }

  /// Sets whether there is a connection.
  mutating func setConnected(_ isConnected: Bool) -> [SyncEvent] {
    let node = DatabaseNode(.bool(isConnected))
    if !isConnected, infoValues["connected"] == node { return [] }
    return setInfo("connected", node)
  }

  private mutating func raiseInfo(below path: DatabasePath) -> [SyncEvent] {
    infoValues.sorted { $0.key < $1.key }.flatMap { key, node -> [SyncEvent] in
      let place = DatabasePath([Self.infoRoot, key])
      guard place.contains(path) else { return [] }
      return info.serverOverwrite(path, node[place.relative(path) ?? .root])
    }
  }

  // MARK: Writes

  mutating func makeWriteID() -> Int {
    lastWriteID += 1
    return lastWriteID
  }

  /// Shows a write before the service has it.
  ///
  /// - Parameter serverTime: The time of the service, in milliseconds.
  mutating func show(_ write: StoredWrite, serverTime: Int64) -> [SyncEvent] {
    // A write that the device has kept has a number of an earlier run.
    lastWriteID = max(lastWriteID, write.id)
    switch write.change {
    case .overwrite(let node):
      return tree.userOverwrite(write.path, resolved(node, at: write.path, serverTime), writeID: write.id)
    case .merge(let values):
      var trie = WriteTrie.empty
      for value in values {
        trie.add(resolved(value.node, at: write.path.appending(value.path), serverTime), at: value.path)
      }
      return tree.userMerge(write.path, trie, writeID: write.id)
    }
  }

  /// A node with server values as this client expects them.
  func resolved(_ node: DatabaseNode, at path: DatabasePath, _ serverTime: Int64) -> DatabaseNode {
    ServerValues.resolve(node, now: serverTime) { tree.node(at: path.appending($0)) ?? .empty }
  }

  // MARK: Requests

  /// The listen by which the service sends what this client does not know of a query.
  func listen(_ query: SyncQuery, tag: Int?, _ tuning: DatabaseTuning) -> DatabaseRequest {
    let known = tree.knownServerNode(query.path, query.spec) ?? .empty
    let compound = CompoundHash.hash(of: known, from: tuning.rangesFrom, shortest: tuning.shortestRange)
    let hash = NodeHash.hash(known)
    return .listen(DatabaseListen(path: query.path, spec: query.spec, tag: tag, hash: hash, compound: compound))
  }

  /// The request for transactions that are sent together: it replaces the data that their results were made from.
  func request(for group: TransactionMachine.Group) -> DatabaseRequest {
    let latest = tree.node(at: group.path, excluding: group.writeIDs) ?? .empty
    let node = group.results.reduce(latest) { $0.setting($1.path, to: $1.node) }
    return .put(group.path, node, hash: NodeHash.hash(latest))
  }

  /// The result of a read, from the answer of the service and the writes that it does not have yet.
  func result(of read: RequestBook.Read, _ node: DatabaseNode) -> IndexedNode {
    let known = tree.writes.completeNode(at: read.path, server: node) ?? node
    return IndexedNode(NodeWindow.window(of: known, read.spec), index: read.spec.index)
  }

  /// The result of a read that the service has not answered: the device's data.
  func keptResult(of read: RequestBook.Read) -> IndexedNode? {
    guard let kept = tree.cache?.nodeForRead(read.path, read.spec), !kept.isEmpty else { return nil }
    return IndexedNode(kept, index: read.spec.index)
  }
}

/// A query at its path.
struct SyncQuery: Hashable, Sendable {
  let path: DatabasePath
  let spec: DatabaseQuerySpec
}

extension StoredWrite {
  /// The request that sends the write.
  var request: DatabaseRequest {
    switch change {
    case .overwrite(let node): .put(path, node, hash: nil)
    case .merge(let values): .merge(path, values)
    }
  }

  /// The paths at which data is replaced.
  var places: [DatabasePath] {
    switch change {
    case .overwrite: [path]
    case .merge(let values): values.map { path.appending($0.path) }
    }
  }
}
