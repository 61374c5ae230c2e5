import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// The listens of one database, found by the paths that a commit changes.
///
/// A listen to everything is sent what was written. A query has a window, the result that its client has: a commit
/// changes it as far as it says what the children have become (`QueryWindow`), and the rest is read.
final class ListenHub: Sendable {
  /// A query without who listens to it.
  struct Query: Hashable, Sendable {
    let path: DatabasePath
    let spec: DatabaseQuerySpec
  }

  private struct Watch {
    let connection: EngineConnection
    let query: Query
    let tag: Int?
    /// The version that the client has at least; `nil` while the first data is being read.
    var version: StoreVersion?
    /// The result that the client has; `nil` for a listen to everything.
    var window: QueryWindow?
    /// Commits that came while the first data was being read.
    var waiting: [(values: [DatabasePathValue], version: StoreVersion)] = []
    var isStale = false
  }

  /// The listens of one connection.
  private struct Owned {
    var all: Set<Int> = []
    /// How many of them have no data yet.
    var starting = 0
    /// Those that have been ended and go on for a moment.
    var ending: Set<Int> = []
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    var places = PlaceTrie()
    var owned: [ObjectIdentifier: Owned] = [:]
    var next = 1
  }

  private let state = Locked(State())

  /// How many listens there are.
  var count: Int { state.withLock { $0.watches.count } }

  // MARK: Adding and removing

  /// Adds a listen whose first data is still to be read.
  func add(_ connection: EngineConnection, _ listen: DatabaseListen) -> Int {
    state.withLock { state in
      let id = state.next
      state.next += 1
      let query = Query(path: listen.path, spec: listen.spec)
      state.watches[id] = Watch(connection: connection, query: query, tag: listen.tag)
      state.places.insert(id, at: listen.path.keys)
      state.owned[ObjectIdentifier(connection), default: Owned()].all.insert(id)
      state.owned[ObjectIdentifier(connection)]?.starting += 1
      return id
    }
  }

  /// Starts a listen with its first data, and hands out what came in between.
  ///
  /// A listen that has been ended meanwhile gets its reply and nothing else: every request has one.
  ///
  /// - Returns: Whether the result has to be read once more.
  func activate(
    _ id: Int, of connection: EngineConnection, _ node: DatabaseNode, _ version: StoreVersion,
    data: [DatabaseServerMessage], reply: DatabaseServerMessage
  ) -> Bool {
    state.withLock { state in
      guard var watch = state.watches[id], watch.version == nil else {
        connection.enqueue([reply])
        return false
      }
      var messages = data
      for (values, later) in watch.waiting where later > version { messages += Self.messages(values, watch) }
      messages.append(reply)
      let isStale = watch.isStale
      watch.version = version
      if !watch.query.spec.loadsAllData { watch.window = QueryWindow(node, watch.query.spec) }
      watch.waiting = []
      watch.isStale = false
      state.watches[id] = watch
      state.owned[ObjectIdentifier(connection)]?.starting -= 1
      watch.connection.enqueue(messages)
      return isStale
    }
  }

  func discard(_ id: Int) { state.withLock { Self.remove(id, &$0) } }

  /// Ends the listens of a query.
  ///
  /// While another listen of the connection is being started, they go on until that has its data: the client relies on
  /// one following the other without a gap.
  func remove(_ connection: EngineConnection, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ tag: Int?) {
    state.withLock { state in
      let query = Query(path: path, spec: spec)
      guard let owned = state.owned[ObjectIdentifier(connection)] else { return }
      for id in state.places.ids(at: path.keys) where owned.all.contains(id) {
        guard let watch = state.watches[id], watch.query == query, watch.tag == tag else { continue }
        if owned.starting > 0 {
          state.owned[ObjectIdentifier(connection)]?.ending.insert(id)
        } else {
          Self.remove(id, &state)
        }
      }
    }
  }

  /// Ends what was to go on while listens of a connection were being started; between two groups of jobs.
  func removeEnding(of connection: EngineConnection) {
    state.withLock { state in
      guard let owned = state.owned[ObjectIdentifier(connection)], owned.starting == 0 else { return }
      for id in owned.ending { Self.remove(id, &state) }
    }
  }

  func removeAll(of connection: EngineConnection) {
    state.withLock { state in
      for id in state.owned[ObjectIdentifier(connection)]?.all ?? [] { Self.remove(id, &state) }
    }
  }

  private static func remove(_ id: Int, _ state: inout State) {
    guard let watch = state.watches.removeValue(forKey: id) else { return }
    state.places.remove(id, at: watch.query.path.keys)
    let owner = ObjectIdentifier(watch.connection)
    state.owned[owner]?.all.remove(id)
    state.owned[owner]?.ending.remove(id)
    if watch.version == nil { state.owned[owner]?.starting -= 1 }
    if state.owned[owner]?.all.isEmpty == true { state.owned[owner] = nil }
  }

  /// Ends the listens of a connection that its user may not have, or no longer.
  func revoke(of connection: EngineConnection, unless mayRead: (Query) -> Bool) {
    let queries = state.withLock { state in
      (state.owned[ObjectIdentifier(connection)]?.all ?? []).compactMap { id in
        state.watches[id].map { (id, $0.query) }
      }
    }
    revoke(queries.filter { !mayRead($0.1) }.map(\.0).sorted())
  }

  /// Ends listens, and says so.
  ///
  /// - Returns: The connections that have something to deliver.
  @discardableResult
  func revoke(_ ids: [Int]) -> [EngineConnection] {
    state.withLock { state in
      ids.compactMap { id in
        guard let watch = state.watches[id] else { return nil }
        Self.remove(id, &state)
        watch.connection.enqueue([.listenRevoked(watch.query.path, watch.query.spec)])
        return watch.connection
      }
    }
  }

  // MARK: Commits

  /// What a commit means for those who listen.
  struct Published {
    /// The connections that have something to deliver.
    var connections: [EngineConnection] = []
    /// The queries that it touches.
    var queries: [Int] = []
  }

  /// Puts a write into the outboxes of the listens to everything that it concerns.
  func publish(_ values: [DatabasePathValue], _ version: StoreVersion) -> Published {
    state.withLock { state in
      var published = Published()
      var ids: Set<Int> = []
      for value in values { state.places.visit(value.path.keys) { ids.insert($0) } }
      for id in ids.sorted() {
        guard let watch = state.watches[id] else { continue }
        guard let seen = watch.version else {
          if watch.query.spec.loadsAllData {
            state.watches[id]?.waiting.append((values, version))
          } else {
            state.watches[id]?.isStale = true
          }
          continue
        }
        guard version > seen else { continue }
        if watch.window != nil {
          published.queries.append(id)
        } else {
          watch.connection.enqueue(Self.messages(values, watch))
          published.connections.append(watch.connection)
        }
      }
      return published
    }
  }

  /// What a listen to everything is sent of a write.
  private static func messages(_ values: [DatabasePathValue], _ watch: Watch) -> [DatabaseServerMessage] {
    let place = watch.query.path
    var below: [DatabasePathValue] = []
    for value in values {
      if let inner = value.path.relative(place) {
        return [.data(place, value.node[inner], tag: watch.tag)]
      }
      if let relative = place.relative(value.path) { below.append(DatabasePathValue(relative, value.node)) }
    }
    return message(below, watch).map { [$0] } ?? []
  }

  private static func message(_ below: [DatabasePathValue], _ watch: Watch) -> DatabaseServerMessage? {
    guard let only = below.first else { return nil }
    if below.count == 1 { return .data(watch.query.path.appending(only.path), only.node, tag: watch.tag) }
    return .merge(watch.query.path, below, tag: watch.tag)
  }

  // MARK: Queries

  /// What queries need of the store before they can be updated.
  struct Reading: Sendable {
    /// The children that a commit touches, by query; `nil` where the store has to be asked.
    var touched: [Int: [DatabaseKey: DatabaseNode?]] = [:]
    /// The queries that are to be read anew.
    var whole: Set<Int> = []
    var queries: [Int: Query] = [:]

    /// The places that have to be read for the queries that are not read anew.
    var children: Set<DatabasePath> {
      var paths: Set<DatabasePath> = []
      for (id, children) in touched where !whole.contains(id) {
        guard let query = queries[id] else { continue }
        for (key, node) in children where node == nil { paths.insert(query.path.child(key)) }
      }
      return paths
    }
  }

  /// Finds out what queries need after a commit; `nil` for queries that are to be read anew whatever was written.
  func reading(_ ids: [Int], after values: [DatabasePathValue]?) -> Reading {
    state.withLock { state in
      var reading = Reading()
      for id in ids {
        guard let watch = state.watches[id], let window = watch.window else { continue }
        reading.queries[id] = watch.query
        guard let values else {
          reading.whole.insert(id)
          continue
        }
        switch window.touch(Self.below(watch.query.path, values)) {
        case .everything: reading.whole.insert(id)
        case .children(let children): reading.touched[id] = children
        }
      }
      return reading
    }
  }

  private static func below(
    _ place: DatabasePath, _ values: [DatabasePathValue]
  ) -> [(path: DatabasePath, node: DatabaseNode)] {
    values.compactMap { value in
      if value.path.contains(place) { return (.root, .empty) }
      return place.relative(value.path).map { ($0, value.node) }
    }
  }

  /// Sends the listens of queries what a commit has made of them.
  ///
  /// - Parameters:
  ///   - children: What the children that had to be read are now.
  ///   - version: The version of the commit.
  /// - Returns: The connections that have something to deliver, and the queries that are to be read anew after all.
  func update(
    _ reading: Reading, children: [DatabasePath: DatabaseNode], _ version: StoreVersion
  ) -> Published {
    state.withLock { state in
      var published = Published()
      for (id, touched) in reading.touched.sorted(by: { $0.key < $1.key }) {
        guard let watch = state.watches[id], var window = watch.window else { continue }
        let place = watch.query.path
        var now: [DatabaseKey: DatabaseNode] = [:]
        for (key, node) in touched { now[key] = node ?? children[place.child(key)] ?? .empty }
        guard let changes = window.update(now) else {
          published.queries.append(id)
          continue
        }
        state.watches[id]?.window = window
        state.watches[id]?.version = max(watch.version ?? version, version)
        if let message = Self.message(changes, watch) {
          watch.connection.enqueue([message])
          published.connections.append(watch.connection)
        }
      }
      return published
    }
  }

  /// Sends the listens of queries that were read anew what has changed.
  ///
  /// - Returns: The connections that have something to deliver.
  func replace(_ results: [Int: DatabaseNode], _ version: StoreVersion) -> [EngineConnection] {
    state.withLock { state in
      var connections: [EngineConnection] = []
      for (id, result) in results.sorted(by: { $0.key < $1.key }) {
        guard let watch = state.watches[id], var window = watch.window else { continue }
        let changes = window.replace(result)
        state.watches[id]?.window = window
        state.watches[id]?.version = max(watch.version ?? version, version)
        if let message = Self.message(changes, watch) {
          watch.connection.enqueue([message])
          connections.append(watch.connection)
        }
      }
      return connections
    }
  }
}
