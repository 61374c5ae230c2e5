import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Queries: what commits make of their windows, and what has to be read for that.
extension ListenHub {
  /// The children and queries that have to be read before queries can be updated.
  struct Reading: Sendable {
    /// The children that a commit touches, by query; `nil` where the store has to be asked.
    var touched: [Int: [DatabaseKey: DatabaseNode?]] = [:]
    /// The windows and places of those queries.
    var windows: [Int: (window: QueryWindow, path: DatabasePath)] = [:]
    /// The queries that are to be read anew.
    var whole: Set<Int> = []

    /// Whether the store has to be asked for children.
    var wantsChildren: Bool { touched.values.contains { $0.values.contains { $0 == nil } } }
  }

  /// Finds out what queries need after a commit.
  ///
  /// - Parameter queries: The queries, and what the commit has written at, above and below their places.
  func reading(_ queries: [Int: [DatabasePathValue]]) -> Reading {
    state.withLock { state in
      var reading = Reading()
      for (id, values) in queries {
        guard let watch = state.watches[id], let window = watch.window else { continue }
        switch window.touch(Self.below(watch.query.path, values)) {
        case .everything: reading.whole.insert(id)
        case .children(let children):
          reading.touched[id] = children
          reading.windows[id] = (window, watch.query.path)
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
  ///   - children: What the children that had to be read are now; those that no window wants are not among them.
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
          published.queries[id] = []
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

  // MARK: Reading anew

  /// Marks queries as being read anew, from now on beside the commits that follow.
  func beginReading(_ ids: Set<Int>) {
    state.withLock { state in
      for id in ids {
        guard let watch = state.watches[id] else { continue }
        state.watches[id]?.isReading = true
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
        if let stale = watch.staleAt, stale > version {
          again.insert(id)
        } else {
          watch.staleAt = nil
          watch.isReading = false
          state.owned[ObjectIdentifier(watch.connection)]?.reading.remove(id)
        }
        state.watches[id] = watch
        Self.releaseReplies(to: watch.connection, &state)
        connections.append(watch.connection)
      }
      return (connections, again)
    }
  }
}
