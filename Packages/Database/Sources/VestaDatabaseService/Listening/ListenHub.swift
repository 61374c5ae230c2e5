import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// The listens of one database, found by the paths that a commit changes.
///
/// A listen to everything is sent what was written. A query has a window, the result that its client has: a commit
/// changes it as far as it says what the children have become (`QueryWindow`), and the rest is read. A query that has
/// to be read again is read concurrently with later commits, and the replies to its own client wait for it: the data of
/// a write is sent before its reply. The queries of one path are found by what a commit changes there (`QueryPlace`).
///
/// To read on: `ListenHub+Commits.swift` for commits and listens to everything, `ListenHub+Queries.swift` for queries.
final class ListenHub: Sendable {
  /// A query without who listens to it.
  struct Query: Hashable, Sendable {
    let path: DatabasePath
    let spec: DatabaseQuerySpec
  }

  struct Watch {
    let connection: EngineConnection
    let query: Query
    let tag: Int?
    /// The version that the client has at least; `nil` while the first data is being read.
    var version: StoreVersion?
    /// The result that the client has; `nil` for a listen to everything.
    var window: QueryWindow?
    /// Commits during the read of the first data.
    var waiting: [(values: [DatabasePathValue], version: StoreVersion)] = []
    /// Whether the store is being read for the query.
    var isReading = false
    /// The last commit that touched the query while it was being read.
    var staleAt: StoreVersion?
    /// Whether the client has to be sent all of the data when it has been read: what it has was changed by other
    /// listens since it said what it has, or since its window was sent.
    var isDisturbed = false
  }

  /// A listen as its connection names it.
  struct Name: Hashable {
    let query: Query
    let tag: Int?
  }

  /// The listens of one connection.
  struct Owned {
    var all: Set<Int> = []
    var byName: [Name: Set<Int>] = [:]
    /// The listens that have no data yet.
    var starting: Set<Int> = []
    /// The highest version that one of them was sent before the commits up to it were published.
    var newest = StoreVersion.zero
    /// The ended listens that continue until others have their data.
    var ending: Set<Int> = []
    /// The queries that are being read again.
    var reading: Set<Int> = []
    /// Replies that wait until the queries have the data of a version.
    var held: [(version: StoreVersion, reply: DatabaseServerMessage)] = []
  }

  struct State {
    var watches: [Int: Watch] = [:]
    /// The numbers of the listens to everything, and of the paths that have queries.
    var places = PlaceTrie()
    /// The paths that have queries, by their numbers.
    var queries: [Int: QueryPlace] = [:]
    var queryPlaces: [DatabasePath: Int] = [:]
    var owned: [ObjectIdentifier: Owned] = [:]
    var next = 1
    /// The version of the last commit that was published.
    var published = StoreVersion.zero
    /// How many windows have been compared with commits.
    var comparisons = 0

    /// Notes that a listen of a connection has data of a version.
    mutating func noteSent(_ version: StoreVersion, to owner: ObjectIdentifier) {
      let newest = max(owned[owner]?.newest ?? version, version)
      owned[owner]?.newest = newest
    }

    mutating func makeID() -> Int {
      defer { next += 1 }
      return next
    }
  }

  let state = Locked(State())

  /// How many windows of queries have been compared with commits up to now: the cost of queries to writers.
  var comparisons: Int { state.withLock { $0.comparisons } }

  /// How many listens there are.
  var count: Int { state.withLock { $0.watches.count } }

  // MARK: Adding and removing

  /// Adds a listen whose first data is still to be read.
  func add(_ connection: EngineConnection, _ listen: DatabaseListen) -> Int {
    state.withLock { state in
      let id = state.makeID()
      let query = Query(path: listen.path, spec: listen.spec)
      state.watches[id] = Watch(connection: connection, query: query, tag: listen.tag)
      if query.spec.loadsAllData {
        state.places.insert(id, at: query.path.keys)
      } else {
        let place = Self.place(of: query.path, &state)
        state.queries[place, default: QueryPlace(query.path)].unsettled.insert(id)
      }
      let owner = ObjectIdentifier(connection)
      state.owned[owner, default: Owned()].all.insert(id)
      state.owned[owner]?.byName[Name(query: query, tag: listen.tag), default: []].insert(id)
      state.owned[owner]?.starting.insert(id)
      return id
    }
  }

  /// The number of a path that has queries, or has them from now on.
  private static func place(of path: DatabasePath, _ state: inout State) -> Int {
    if let known = state.queryPlaces[path] { return known }
    let number = state.makeID()
    state.queryPlaces[path] = number
    state.places.insert(number, at: path.keys)
    return number
  }

  /// Starts a listen with its first data, which includes the commits in between.
  ///
  /// The first data is one message, also when commits have overtaken it. By the example of a client that listens to the
  /// query `/t` and begins to listen to `/t/10/x`, which a commit creates in between: were it sent "nothing" first and
  /// the commit after that, its copy of the query, which has the commit already, would lose the child `10` for good.
  ///
  /// A listen that was ended in between gets its reply and nothing else: every request has one.
  ///
  /// - Parameter data: The data to send when there was no commit in between; empty when the client has all of it.
  /// - Returns: Whether commits have overtaken the data of a query: it has to be read once more, and its reply waits.
  func activate(
    _ id: Int, of connection: EngineConnection, _ node: DatabaseNode, _ version: StoreVersion,
    data: [DatabaseServerMessage], reply: DatabaseServerMessage
  ) -> Bool {
    state.withLock { state in
      guard var watch = state.watches[id], watch.version == nil else {
        connection.enqueue([reply])
        return false
      }
      let owner = ObjectIdentifier(connection)
      let late = watch.waiting.filter { $0.version > version }
      let first = late.reduce(node) { Self.node($0, after: $1.values, at: watch.query.path) }
      let isWhole = Self.removePredecessors(of: id, watch, &state) || watch.isDisturbed || !late.isEmpty
      let messages = isWhole ? [.data(watch.query.path, first, tag: watch.tag)] : data
      watch.version = late.last?.version ?? version
      if !watch.query.spec.loadsAllData { watch.window = QueryWindow(node, watch.query.spec) }
      (watch.waiting, watch.isDisturbed) = ([], false)
      state.owned[owner]?.starting.remove(id)
      state.noteSent(version, to: owner)
      connection.enqueue(messages)
      let stale = watch.staleAt.flatMap { $0 > version ? $0 : nil }
      if let stale {
        watch.isReading = true
        state.owned[owner]?.reading.insert(id)
        state.owned[owner]?.held.append((stale, reply))
      }
      watch.staleAt = stale
      state.watches[id] = watch
      if watch.window == nil, !messages.isEmpty {
        let known = max(watch.version ?? version, state.published)
        for other in Self.listens(disturbedBy: watch, at: known, state) { Self.restore(other, &state) }
      }
      if stale == nil { connection.enqueue([reply]) }
      return stale != nil
    }
  }

  /// A node after what a commit has written.
  private static func node(
    _ node: DatabaseNode, after values: [DatabasePathValue], at place: DatabasePath
  ) -> DatabaseNode {
    values.reduce(node) { node, value in
      if let inner = value.path.relative(place) { return value.node[inner] }
      return place.relative(value.path).map { node.setting($0, to: value.node) } ?? node
    }
  }

  /// Removes the listens that a client has ended before it began this one, of the same query.
  ///
  /// - Returns: Whether there were any: their data since the client stated its own is not in that statement.
  private static func removePredecessors(of id: Int, _ watch: Watch, _ state: inout State) -> Bool {
    let owner = ObjectIdentifier(watch.connection), name = Name(query: watch.query, tag: watch.tag)
    let ended = (state.owned[owner]?.byName[name] ?? []).filter { other in
      other < id && state.owned[owner]?.ending.contains(other) == true
    }
    for id in ended { remove(id, &state) }
    return !ended.isEmpty
  }

  func discard(_ id: Int) { state.withLock { Self.remove(id, &$0) } }

  /// Ends the listens of a query.
  ///
  /// While another listen of the connection is being started, they continue until that has its data: the client relies
  /// on one following the other without a gap.
  func remove(_ connection: EngineConnection, _ path: DatabasePath, _ spec: DatabaseQuerySpec, _ tag: Int?) {
    state.withLock { state in
      // Only what is needed is taken out: a copy of all that a connection has would be made for each removal.
      let owner = ObjectIdentifier(connection), name = Name(query: Query(path: path, spec: spec), tag: tag)
      let isStarting = state.owned[owner]?.starting.isEmpty == false
      for id in state.owned[owner]?.byName[name] ?? [] {
        if isStarting {
          state.owned[owner]?.ending.insert(id)
        } else {
          Self.remove(id, &state)
        }
      }
    }
  }

  /// Ends the listens that continued while others of their connection were being started; between two groups of jobs.
  func removeEnding(of connection: EngineConnection) {
    state.withLock { state in
      let owner = ObjectIdentifier(connection)
      guard state.owned[owner]?.starting.isEmpty == true else { return }
      for id in state.owned[owner]?.ending ?? [] { Self.remove(id, &state) }
    }
  }

  /// Ends the listens of a connection that is over; waiting replies are dropped.
  func removeAll(of connection: EngineConnection) {
    state.withLock { state in
      state.owned[ObjectIdentifier(connection)]?.held = []
      for id in state.owned[ObjectIdentifier(connection)]?.all ?? [] { Self.remove(id, &state) }
    }
  }

  private static func remove(_ id: Int, _ state: inout State) {
    guard let watch = state.watches.removeValue(forKey: id) else { return }
    if watch.query.spec.loadsAllData {
      state.places.remove(id, at: watch.query.path.keys)
    } else {
      removeQuery(id, watch, &state)
    }
    let owner = ObjectIdentifier(watch.connection), name = Name(query: watch.query, tag: watch.tag)
    state.owned[owner]?.all.remove(id)
    state.owned[owner]?.byName[name]?.remove(id)
    if state.owned[owner]?.byName[name]?.isEmpty == true { state.owned[owner]?.byName[name] = nil }
    state.owned[owner]?.ending.remove(id)
    state.owned[owner]?.reading.remove(id)
    state.owned[owner]?.starting.remove(id)
    releaseReplies(to: watch.connection, &state)
    if state.owned[owner]?.all.isEmpty == true { state.owned[owner] = nil }
  }

  private static func removeQuery(_ id: Int, _ watch: Watch, _ state: inout State) {
    guard let number = state.queryPlaces[watch.query.path] else { return }
    state.queries[number]?.unsettled.remove(id)
    if let window = watch.window { state.queries[number]?.unsettle(id, window) }
    guard state.queries[number]?.isEmpty == true else { return }
    state.queries[number] = nil
    state.queryPlaces[watch.query.path] = nil
    state.places.remove(number, at: watch.query.path.keys)
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

  /// The listens of a connection, in the order of their numbers.
  func queries(of connection: EngineConnection) -> [(id: Int, query: Query)] {
    state.withLock { state in
      (state.owned[ObjectIdentifier(connection)]?.all ?? []).sorted().compactMap { id in
        state.watches[id].map { (id, $0.query) }
      }
    }
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

  // MARK: Replies

  /// Replies to a write of a connection: after the data of its version, and after the replies that wait for theirs.
  func reply(_ reply: DatabaseServerMessage, to connection: EngineConnection, _ version: StoreVersion) {
    state.withLock { state in
      let owner = ObjectIdentifier(connection)
      guard let owned = state.owned[owner], !owned.reading.isEmpty || !owned.held.isEmpty else {
        return connection.enqueue([reply])
      }
      state.owned[owner]?.held.append((version, reply))
      Self.releaseReplies(to: connection, &state)
    }
  }

  /// Hands out the replies whose data all queries of the connection have been sent.
  static func releaseReplies(to connection: EngineConnection, _ state: inout State) {
    let owner = ObjectIdentifier(connection)
    guard let held = state.owned[owner]?.held, !held.isEmpty else { return }
    let reached = state.owned[owner]?.reading.compactMap { state.watches[$0]?.version }.min()
    let ready = held.prefix { reply in reached.map { reply.version <= $0 } ?? true }
    state.owned[owner]?.held.removeFirst(ready.count)
    connection.enqueue(ready.map(\.reply))
  }
}
