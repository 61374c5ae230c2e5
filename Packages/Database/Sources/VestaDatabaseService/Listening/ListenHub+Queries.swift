import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Queries: the effect of commits on their windows, and the reads for that.
extension ListenHub {
  /// The effect of a commit on the queries of some paths, and the reads that it needs.
  struct Reading: Sendable {
    struct Place: Sendable {
      let path: DatabasePath
      /// The children that the commit touches; `nil` where the store has to be asked.
      let children: [DatabaseKey: DatabaseNode?]
      /// The orders of its queries.
      let indexes: [DatabaseIndex]
    }

    var places: [Int: Place] = [:]
    /// The queries that are to be read again.
    var whole: Set<Int> = []

    /// Whether the store has to be asked for children.
    var wantsChildren: Bool { places.values.contains { $0.children.values.contains { $0 == nil } } }
  }

  /// Finds out what queries need after a commit.
  ///
  /// - Parameters:
  ///   - places: The paths, and the data of the commit at, above and below them.
  ///   - version: The version of the commit.
  func reading(_ places: [Int: [DatabasePathValue]], _ version: StoreVersion) -> Reading {
    state.withLock { state in
      var reading = Reading()
      for (number, values) in places {
        Self.settle(number, version, &state)
        guard let place = state.queries[number], !place.groups.isEmpty else { continue }
        switch ChildTouch(Self.below(place.path, values), place.node) {
        case .everything: reading.whole.formUnion(place.settled)
        case .children(let children):
          reading.places[number] = .init(path: place.path, children: children, indexes: Array(place.groups.keys))
        }
      }
      return reading
    }
  }

  /// Settles the queries of a path that have all changes before a commit.
  private static func settle(_ number: Int, _ version: StoreVersion, _ state: inout State) {
    for id in state.queries[number]?.unsettled ?? [] {
      guard let watch = state.watches[id], !watch.isReading, let seen = watch.version, seen < version else { continue }
      if let window = watch.window { state.queries[number]?.settle(id, window) }
    }
  }

  /// The settled queries of some paths.
  func queries(at places: some Sequence<Int>) -> Set<Int> {
    state.withLock { state in Set(places.flatMap { state.queries[$0]?.settled ?? [] }) }
  }

  /// Whether a query may take a child that none of the path has, going by what it is ordered by.
  ///
  /// - Parameters:
  ///   - number: The number of the path.
  ///   - sample: A node with the position of the child.
  func mayTake(_ number: Int, _ index: DatabaseIndex, _ key: DatabaseKey, _ sample: DatabaseNode) -> Bool {
    state.withLock { state in
      let ids = state.queries[number]?.groups[index]?.windows(at: key, sample) ?? []
      return ids.contains { state.watches[$0]?.window?.mayTake(key, sample) ?? false }
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
  ///   - children: The current data of the children that had to be read, without children that no window needs.
  ///   - version: The version of the commit.
  ///   - isExact: Whether the children were read as this commit has left them, and there was no later one in between.
  /// - Returns: The connections that have something to deliver, and the queries that are to be read again after all.
  func update(
    _ reading: Reading, children: [DatabasePath: DatabaseNode], _ version: StoreVersion, isExact: Bool
  ) -> (connections: [EngineConnection], again: Set<Int>) {
    state.withLock { state in
      var connections: [EngineConnection] = []
      var again: Set<Int> = []
      for (number, place) in reading.places.sorted(by: { $0.key < $1.key }) {
        var now: [DatabaseKey: DatabaseNode] = [:]
        var changes: [Int: [DatabaseKey: DatabaseNode]] = [:]
        for (key, known) in place.children {
          guard let node = known ?? children[place.path.child(key)] else { continue }
          now[key] = node
          let ids = state.queries[number]?.concerned(by: key, node) ?? []
          if known == nil, !isExact { again.formUnion(ids) }
          for id in ids { changes[id, default: [:]][key] = node }
        }
        for (id, now) in changes.sorted(by: { $0.key < $1.key }) where !again.contains(id) {
          guard let connection = state.watches[id]?.connection else { continue }
          if Self.update(id, now, in: number, version, &state) {
            connections.append(connection)
          } else {
            again.insert(id)
          }
        }
        state.queries[number]?.update(now)
      }
      return (connections, again)
    }
  }

  /// Changes the window of a settled query, and notifies its listener.
  ///
  /// - Returns: Whether that could be done without the store.
  private static func update(
    _ id: Int, _ now: [DatabaseKey: DatabaseNode], in number: Int, _ version: StoreVersion, _ state: inout State
  ) -> Bool {
    guard let watch = state.watches[id], let old = watch.window else { return true }
    var window = old
    state.comparisons += 1
    guard let changes = window.update(now) else { return false }
    state.watches[id]?.window = window
    state.watches[id]?.version = max(watch.version ?? version, version)
    state.queries[number]?.update(id, from: old, to: window, changes.lazy.compactMap(\.path.front))
    if let message = message(changes, watch) { watch.connection.enqueue([message]) }
    return true
  }

  // MARK: Reading again

  /// Marks queries as being read again, concurrently with later commits.
  func beginReading(_ ids: Set<Int>) {
    state.withLock { state in
      for id in ids {
        guard let watch = state.watches[id] else { continue }
        state.watches[id]?.isReading = true
        if let number = state.queryPlaces[watch.query.path], let window = watch.window {
          state.queries[number]?.unsettle(id, window)
          state.queries[number]?.unsettled.insert(id)
        }
        state.owned[ObjectIdentifier(watch.connection)]?.reading.insert(id)
      }
    }
  }

  /// The queries that still have listeners.
  func queries(_ ids: Set<Int>) -> [Int: Query] {
    state.withLock { state in
      var queries: [Int: Query] = [:]
      for id in ids { queries[id] = state.watches[id]?.query }
      return queries
    }
  }

  /// Sends the changes of queries that were read again to their listens, and the replies that have waited for them.
  ///
  /// - Returns: The connections that have something to deliver, and the queries that commits have touched since.
  func replace(
    _ results: [Int: DatabaseNode], _ version: StoreVersion
  ) -> (connections: [EngineConnection], again: Set<Int>) {
    state.withLock { state in
      var connections: [EngineConnection] = []
      var again: Set<Int> = []
      for (id, result) in results.sorted(by: { $0.key < $1.key }) {
        guard var watch = state.watches[id], var window = watch.window else { continue }
        let changes = window.replace(result)
        watch.window = window
        watch.version = max(watch.version ?? version, version)
        if let message = Self.message(watch.isDisturbed ? [DatabasePathValue(.root, result)] : changes, watch) {
          watch.connection.enqueue([message])
        }
        watch.isDisturbed = false
        let owner = ObjectIdentifier(watch.connection)
        state.noteSent(version, to: owner)
        if let stale = watch.staleAt, stale > version {
          again.insert(id)
        } else {
          watch.staleAt = nil
          watch.isReading = false
          state.owned[owner]?.reading.remove(id)
        }
        state.watches[id] = watch
        Self.releaseReplies(to: watch.connection, &state)
        connections.append(watch.connection)
      }
      return (connections, again)
    }
  }
}
