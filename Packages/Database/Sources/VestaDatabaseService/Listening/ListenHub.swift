import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// The listens of one database, found by the paths that a write changes.
///
/// A listen to everything is sent the write itself. A query has a window, the result that its client has; after a write
/// below its place the result is read anew and the difference is sent.
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
    /// What is known of the version that the client has; `nil` while the first data is being read.
    var version: StoreVersion?
    /// The result that the client has.
    var window = DatabaseNode.empty
    /// Commits that came while the first data was being read.
    var waiting: [(values: [DatabasePathValue], version: StoreVersion)] = []
    var isStale = false
  }

  private struct State {
    var watches: [Int: Watch] = [:]
    var places = PlaceTrie()
    /// Listens that have been ended and go on for a moment, with their sessions.
    var ending: [Int: String] = [:]
    var next = 1
  }

  private let state = Locked(State())

  /// Adds a listen whose first data is still to be read.
  func add(_ connection: EngineConnection, _ listen: DatabaseListen) -> Int {
    state.withLock { state in
      let id = state.next
      state.next += 1
      let query = Query(path: listen.path, spec: listen.spec)
      state.watches[id] = Watch(connection: connection, query: query, tag: listen.tag)
      state.places.insert(id, at: listen.path.keys)
      return id
    }
  }

  /// Starts a listen with its first data, and hands out what came in between.
  ///
  /// A listen that has been ended meanwhile gets its reply and nothing else: every request has one.
  ///
  /// - Returns: Whether the result has to be read once more.
  func activate(
    _ id: Int, of connection: EngineConnection, _ node: DatabaseNode, _ version: StoreVersion, sendsData: Bool,
    reply: DatabaseServerMessage
  ) -> Bool {
    state.withLock { state in
      guard var watch = state.watches[id] else {
        connection.enqueue([reply])
        return false
      }
      var messages: [DatabaseServerMessage] = []
      if sendsData { messages.append(.data(watch.query.path, node, tag: watch.tag)) }
      for (values, later) in watch.waiting where later > version { messages += Self.messages(values, watch) }
      messages.append(reply)
      let isStale = watch.isStale
      watch.version = version
      watch.window = watch.query.spec.loadsAllData ? .empty : node
      watch.waiting = []
      watch.isStale = false
      state.watches[id] = watch
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
      let isStarting = state.watches.values.contains { $0.connection === connection && $0.version == nil }
      for id in state.places.ids(at: path.keys) {
        guard let watch = state.watches[id], watch.connection === connection, watch.query == query, watch.tag == tag
        else { continue }
        if isStarting { state.ending[id] = connection.session } else { Self.remove(id, &state) }
      }
    }
  }

  /// Ends what was to go on while listens of a connection were being started; between two groups of jobs.
  func removeEnding(of connection: EngineConnection) {
    state.withLock { state in
      let isStarting = state.watches.values.contains { $0.connection === connection && $0.version == nil }
      guard !isStarting else { return }
      for (id, session) in state.ending where session == connection.session {
        state.ending[id] = nil
        Self.remove(id, &state)
      }
    }
  }

  func removeAll(of connection: EngineConnection) {
    state.withLock { state in
      for (id, watch) in state.watches where watch.connection === connection { Self.remove(id, &state) }
    }
  }

  private static func remove(_ id: Int, _ state: inout State) {
    guard let watch = state.watches.removeValue(forKey: id) else { return }
    state.ending[id] = nil
    state.places.remove(id, at: watch.query.path.keys)
  }

  // MARK: Commits

  /// Puts a commit into the outboxes of the listens to everything that it concerns.
  ///
  /// - Returns: The connections that have something to deliver, and the queries to read anew.
  func publish(_ values: [DatabasePathValue], _ version: StoreVersion) -> ([EngineConnection], [Int]) {
    state.withLock { state in
      var connections: [EngineConnection] = []
      var queries: Set<Int> = []
      var ids: Set<Int> = []
      for value in values { state.places.visit(value.path.keys) { ids.insert($0) } }
      for id in ids.sorted() {
        guard let watch = state.watches[id] else { continue }
        if !watch.query.spec.loadsAllData {
          if watch.version == nil { state.watches[id]?.isStale = true } else { queries.insert(id) }
        } else if let seen = watch.version {
          guard version > seen else { continue }
          watch.connection.enqueue(Self.messages(values, watch))
          connections.append(watch.connection)
        } else {
          state.watches[id]?.waiting.append((values, version))
        }
      }
      return (connections, queries.sorted())
    }
  }

  /// What a listen to everything is sent of a commit.
  private static func messages(_ values: [DatabasePathValue], _ watch: Watch) -> [DatabaseServerMessage] {
    let place = watch.query.path
    var below: [DatabasePathValue] = []
    for value in values {
      if let inner = value.path.relative(place) {
        return [.data(place, value.node[inner], tag: watch.tag)]
      }
      if let relative = place.relative(value.path) { below.append(DatabasePathValue(relative, value.node)) }
    }
    if let only = below.first, below.count == 1 {
      return [.data(place.appending(only.path), only.node, tag: watch.tag)]
    }
    return below.isEmpty ? [] : [.merge(place, below, tag: watch.tag)]
  }

  // MARK: Queries

  /// The queries of listens.
  func queries(_ ids: [Int]) -> [Int: Query] {
    state.withLock { state in
      var queries: [Int: Query] = [:]
      for id in ids { queries[id] = state.watches[id]?.query }
      return queries
    }
  }

  /// Sends the listens what has changed in their results.
  ///
  /// - Returns: The connections that have something to deliver.
  func update(_ queries: [Int: Query], _ results: [Query: DatabaseNode]) -> [EngineConnection] {
    state.withLock { state in
      var connections: [EngineConnection] = []
      for (id, query) in queries.sorted(by: { $0.key < $1.key }) {
        guard let watch = state.watches[id], let new = results[query], watch.window != new else { continue }
        state.watches[id]?.window = new
        watch.connection.enqueue([Self.difference(watch, new)])
        connections.append(watch.connection)
      }
      return connections
    }
  }

  private static func difference(_ watch: Watch, _ new: DatabaseNode) -> DatabaseServerMessage {
    var values: [DatabasePathValue] = []
    watch.window.forEachChild { key, _ in
      if new[key].isEmpty { values.append(DatabasePathValue(DatabasePath([key]), .empty)) }
    }
    new.forEachChild { key, node in
      if watch.window[key] != node { values.append(DatabasePathValue(DatabasePath([key]), node)) }
    }
    let isWhole = watch.window.childCount == 0 || new.childCount == 0
    if isWhole { return .data(watch.query.path, new, tag: watch.tag) }
    if let only = values.first, values.count == 1 {
      return .data(watch.query.path.appending(only.path), only.node, tag: watch.tag)
    }
    return .merge(watch.query.path, values, tag: watch.tag)
  }

  /// Ends listens whose data cannot be read.
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
}

/// Numbers by paths, for finding those above, at and below a path.
struct PlaceTrie {
  private var ids: Set<Int> = []
  private var children: [DatabaseKey: PlaceTrie] = [:]

  private var isEmpty: Bool { ids.isEmpty && children.isEmpty }

  mutating func insert(_ id: Int, at keys: ArraySlice<DatabaseKey>) {
    guard let front = keys.first else {
      ids.insert(id)
      return
    }
    children[front, default: PlaceTrie()].insert(id, at: keys.dropFirst())
  }

  mutating func remove(_ id: Int, at keys: ArraySlice<DatabaseKey>) {
    guard let front = keys.first else {
      ids.remove(id)
      return
    }
    children[front]?.remove(id, at: keys.dropFirst())
    if children[front]?.isEmpty == true { children[front] = nil }
  }

  func ids(at keys: ArraySlice<DatabaseKey>) -> Set<Int> {
    guard let front = keys.first else { return ids }
    return children[front]?.ids(at: keys.dropFirst()) ?? []
  }

  /// Calls the body for the numbers above, at and below a path.
  func visit(_ keys: ArraySlice<DatabaseKey>, _ body: (Int) -> Void) {
    for id in ids { body(id) }
    if let front = keys.first {
      children[front]?.visit(keys.dropFirst(), body)
    } else {
      for child in children.values { child.visit([], body) }
    }
  }
}
