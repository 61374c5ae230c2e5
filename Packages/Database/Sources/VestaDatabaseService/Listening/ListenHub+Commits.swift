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

  /// Puts the writes of a commit into the outboxes of the listens to everything that they concern.
  ///
  /// By the example of a client that listens to the first two children of `/list`, `{a: 1, b: 2}`, and to `/list/k`: a
  /// commit whose first write puts `k: 0` and whose second write takes it away again leaves the query as it is. What
  /// is sent for `/list/k` is put into the client's copy of the window too, where `k` pushes `b` out for good. The
  /// query is sent its window once more.
  func publish(_ writes: [[DatabasePathValue]], _ version: StoreVersion) -> Published {
    state.withLock { state in
      var published = Published()
      var told: [Int: Int] = [:]
      for values in writes { Self.publish(values, version, &state, &published, &told) }
      state.published = max(state.published, version)
      var disturbed: Set<Int> = []
      for (id, count) in told {
        guard let watch = state.watches[id] else { continue }
        disturbed.formUnion(Self.listens(disturbedBy: watch, at: version, messages: count, state))
      }
      published.disturbed = disturbed.sorted()
      return published
    }
  }

  private static func publish(
    _ values: [DatabasePathValue], _ version: StoreVersion, _ state: inout State, _ published: inout Published,
    _ told: inout [Int: Int]
  ) {
    // A listen is given the values that concern it: going through all of them for each would cost their product.
    var concerned: [Int: [DatabasePathValue]] = [:]
    for value in values { state.places.visit(value.path.keys) { concerned[$0, default: []].append(value) } }
    for (id, values) in concerned.sorted(by: { $0.key < $1.key }) {
      if let place = state.queries[id] {
        published.places[id, default: []] += values
        for query in place.unsettled { overtake(query, version, &state) }
        continue
      }
      guard let watch = state.watches[id] else { continue }
      guard let seen = watch.version else {
        state.watches[id]?.waiting.append((values, version))
        continue
      }
      guard version > seen else { continue }
      watch.connection.enqueue(messages(values, watch))
      published.connections.append(watch.connection)
      told[id, default: 0] += 1
    }
  }

  /// Notes a commit for a query that is being read.
  private static func overtake(_ id: Int, _ version: StoreVersion, _ state: inout State) {
    guard let watch = state.watches[id] else { return }
    let isRead = watch.version.map { watch.isReading && version > $0 } ?? true
    if isRead { state.watches[id]?.staleAt = version }
  }

  /// The listens of a client whose copies may have lost something to what another listen was sent.
  ///
  /// - Parameters:
  ///   - watch: A listen to everything that was sent something.
  ///   - version: The version of what it was sent.
  ///   - messages: How many messages that was; no other client sees the state between two of them.
  /// - Returns: Queries above the listen that may have lost a child, queries that had newer data already, and listens
  ///   whose first data is being read.
  static func listens(
    disturbedBy watch: Watch, at version: StoreVersion, messages: Int = 1, _ state: State
  ) -> [Int] {
    guard let owned = state.owned[ObjectIdentifier(watch.connection)] else { return [] }
    let place = watch.query.path
    var found: [Int] = []
    for depth in 0..<place.count {
      guard let number = state.queryPlaces[DatabasePath(place.keys.prefix(depth))] else { continue }
      guard let queries = state.queries[number] else { continue }
      for id in queries.queries(among: owned.all) {
        if let other = state.watches[id], messages > 1 || disturbs(place, other) { found.append(id) }
      }
    }
    let others = owned.newest > version ? owned.all : owned.starting
    for id in others {
      guard let other = state.watches[id], other.query.path.contains(place) || place.contains(other.query.path) else {
        continue
      }
      let isOlder = other.version.map { other.window != nil && version < $0 } ?? true
      if isOlder { found.append(id) }
    }
    return Set(found).sorted()
  }

  /// Whether the change at a path that is sent to a client can push a child out of its copy of a window.
  ///
  /// A child that is in the window displaces no other.
  private static func disturbs(_ place: DatabasePath, _ watch: Watch) -> Bool {
    guard let window = watch.window, window.spec.limit != nil else { return false }
    guard let key = watch.query.path.relative(place)?.front else { return false }
    return window.node[key].isEmpty
  }

  /// Sends queries their whole windows.
  ///
  /// - Returns: The connections that have something to deliver.
  func restore(_ ids: Set<Int>) -> [EngineConnection] {
    state.withLock { state in
      ids.sorted().compactMap { id in
        Self.restore(id, &state)
        return state.watches[id]?.connection
      }
    }
  }

  /// Sends a query its whole window, or notes that the data that is being read is to be sent whole.
  static func restore(_ id: Int, _ state: inout State) {
    guard let watch = state.watches[id] else { return }
    if let window = watch.window, !watch.isReading {
      watch.connection.enqueue([.data(watch.query.path, window.node, tag: watch.tag)])
    } else if watch.version == nil || watch.window != nil {
      state.watches[id]?.isDisturbed = true
    }
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
