import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Brings the results of queries up to date after a commit.
///
/// By the example of the last two of `/rooms` by `size`: a commit that writes `/rooms/a/title` says nothing of the size
/// of a room that is not among the two, so that one row is read and no more; a commit that takes one of the two away
/// leaves a place that only the store can fill, and the query is read beside the commits that follow.
extension Room {
  /// Brings the results of queries up to date, and sends what has changed.
  ///
  /// - Parameters:
  ///   - queries: The queries, and what a commit has written that concerns them.
  ///   - version: The version of the commit.
  func refresh(_ queries: [Int: [DatabasePathValue]], _ version: StoreVersion) async {
    let reading = hub.reading(queries)
    var whole = reading.whole
    do {
      let (children, seen) = reading.wantsChildren ? try await read(reading) : ([:], version)
      if seen > version {
        // Somebody has written since: what was read is not what this commit has left.
        whole.formUnion(reading.touched.keys)
      } else {
        let published = hub.update(reading, children: children, version)
        for connection in published.connections { connection.deliver() }
        whole.formUnion(published.queries.keys)
      }
      hub.beginReading(whole)
      readAnew(whole)
    } catch {
      revoke(Set(queries.keys))
    }
  }

  /// Reads the children that a commit touches and windows want, as the store has them now.
  private func read(
    _ reading: ListenHub.Reading
  ) async throws -> (nodes: [DatabasePath: DatabaseNode], version: StoreVersion) {
    let keys = context.keys
    return try await openStore().read { reader in
      let tree = TreeReader(reader: reader, keys: keys)
      var places: [SortPlace: DatabaseNode] = [:]
      var nodes: [DatabasePath: DatabaseNode] = [:]
      for (id, children) in reading.touched {
        guard let (window, path) = reading.windows[id] else { continue }
        for (key, node) in children where node == nil && nodes[path.child(key)] == nil {
          let place = SortPlace(child: path.child(key), index: window.spec.index)
          let known = places[place]
          let sample = if let known { known } else { try await tree.sample(place.child, place.index) }
          places[place] = sample
          if window.mayTake(key, sample) { nodes[place.child] = try await tree.node(place.child) }
        }
      }
      return (nodes, reader.version)
    }
  }

  private struct SortPlace: Hashable {
    let child: DatabasePath
    let index: DatabaseIndex
  }

  /// Reads queries anew beside the commits that follow, until no commit has touched them since.
  ///
  /// The result is sent also when it is old by then, so that a stream of commits does not keep a query waiting.
  func readAnew(_ watches: Set<Int>) {
    if watches.isEmpty { return }
    reads.begin()
    Task {
      var rest = watches
      do {
        while !rest.isEmpty {
          let (results, seen) = try await read(hub.queries(rest))
          let replaced = hub.replace(results, seen)
          for connection in replaced.connections { connection.deliver() }
          rest = replaced.again
        }
      } catch {
        revoke(rest)
      }
      reads.end()
    }
  }

  /// A query that cannot be read leaves its listeners with old data: they get an error, and can listen again.
  private func revoke(_ watches: Set<Int>) {
    for connection in hub.revoke(watches.sorted()) { connection.deliver() }
  }

  /// Reads the results of queries, each query once.
  private func read(
    _ queries: [Int: ListenHub.Query]
  ) async throws -> (results: [Int: DatabaseNode], version: StoreVersion) {
    let context = context
    let first = queries.values.first.map { QueryReader.first($0.path, $0.spec, context) }
    return try await openStore().read(expecting: first ?? .keys([])) { reader in
      let queryReader = try await QueryReader(reader, context, for: queries.values.lazy.map(\.spec))
      var windows: [ListenHub.Query: DatabaseNode] = [:]
      for query in Set(queries.values) { windows[query] = try await queryReader.window(query.path, query.spec).node }
      return (queries.compactMapValues { windows[$0] }, reader.version)
    }
  }
}
