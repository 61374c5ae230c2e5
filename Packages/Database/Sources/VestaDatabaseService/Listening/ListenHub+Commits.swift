import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Notifies the listens that a commit concerns.
extension ListenHub {
  /// The connections and queries that a commit concerns.
  struct Published {
    /// The connections that have something to deliver.
    var connections: [EngineConnection] = []
    /// The paths whose queries the commit may affect, and for each the values that affect them.
    var places: [Int: [DatabasePathValue]] = [:]
    /// The queries that are to be sent their whole window once the commit is over.
    var disturbed: [Int] = []
  }

  /// Puts a write into the outboxes of the listens to everything that it concerns.
  ///
  /// By the example of a client that listens to the first two children of `/list`, `{a: 1, b: 2}`, and to `/list/k`: a
  /// commit whose first write puts `k: 0` and whose second write takes it away again leaves the query as it is. What
  /// is said of `/list/k` goes into the client's copy of the window too, where `k` pushes `b` out for good. The query
  /// is sent its window once more.
  func publish(_ values: [DatabasePathValue], _ version: StoreVersion) -> Published {
    state.withLock { state in
      var published = Published()
      // A listen is given the values that concern it: going through all of them for each would cost their product.
      var concerned: [Int: [DatabasePathValue]] = [:]
      for value in values { state.places.visit(value.path.keys) { concerned[$0, default: []].append(value) } }
      var told: [Watch] = []
      for (id, values) in concerned.sorted(by: { $0.key < $1.key }) {
        if let place = state.queries[id] {
          published.places[id] = values
          for query in place.unsettled { Self.overtake(query, version, &state) }
          continue
        }
        guard let watch = state.watches[id] else { continue }
        guard let seen = watch.version else {
          state.watches[id]?.waiting.append((values, version))
          continue
        }
        guard version > seen else { continue }
        watch.connection.enqueue(Self.messages(values, watch))
        published.connections.append(watch.connection)
        told.append(watch)
      }
      for watch in told { published.disturbed += Self.queries(disturbedBy: watch, state) }
      return published
    }
  }

  /// Notes a commit for a query that is being read.
  private static func overtake(_ id: Int, _ version: StoreVersion, _ state: inout State) {
    guard let watch = state.watches[id] else { return }
    let isRead = watch.version.map { watch.isReading && version > $0 } ?? true
    if isRead { state.watches[id]?.staleAt = version }
  }

  /// The queries above a listen to everything whose windows on the client lose a child to what the listen receives.
  private static func queries(disturbedBy watch: Watch, _ state: State) -> [Int] {
    let owned = state.owned[ObjectIdentifier(watch.connection)]?.all ?? []
    var found: [Int] = []
    for depth in 0..<watch.query.path.count {
      guard let number = state.queryPlaces[DatabasePath(watch.query.path.keys.prefix(depth))] else { continue }
      guard let place = state.queries[number] else { continue }
      for id in place.queries(among: owned) {
        if let other = state.watches[id], disturbs(watch.query.path, other) { found.append(id) }
      }
    }
    return found.sorted()
  }

  /// Whether the change at a path that is sent to a client can push a child out of its copy of a window.
  ///
  /// A child that is in the window takes nobody's place.
  private static func disturbs(_ place: DatabasePath, _ watch: Watch) -> Bool {
    guard let window = watch.window, window.spec.limit != nil else { return false }
    guard let key = watch.query.path.relative(place)?.front else { return false }
    return window.node[key].isEmpty
  }

  /// Sends queries their whole windows.
  ///
  /// - Returns: The connections that have something to deliver.
  func restoreWindows(_ ids: Set<Int>) -> [EngineConnection] {
    state.withLock { state in
      ids.sorted().compactMap { id in
        Self.restoreWindow(id, &state)
        return state.watches[id]?.connection
      }
    }
  }

  private static func restoreWindow(_ id: Int, _ state: inout State) {
    guard let watch = state.watches[id], let window = watch.window else { return }
    if watch.isReading {
      state.watches[id]?.isDisturbed = true
    } else {
      watch.connection.enqueue([.data(watch.query.path, window.node, tag: watch.tag)])
    }
  }

  /// Sends the windows of the queries above a listen to all data, after the first data of that listen.
  static func restoreWindows(above watch: Watch, _ state: inout State) {
    for id in queries(disturbedBy: watch, state) { restoreWindow(id, &state) }
  }

  /// Returns the messages of a write for a listen to everything.
  static func messages(_ values: [DatabasePathValue], _ watch: Watch) -> [DatabaseServerMessage] {
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

  static func message(_ below: [DatabasePathValue], _ watch: Watch) -> DatabaseServerMessage? {
    guard let only = below.first else { return nil }
    if below.count == 1 { return .data(watch.query.path.appending(only.path), only.node, tag: watch.tag) }
    return .merge(watch.query.path, below, tag: watch.tag)
  }
}
