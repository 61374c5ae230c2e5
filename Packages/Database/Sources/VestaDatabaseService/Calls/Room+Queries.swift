import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseModel
import VestaStoreInterop

/// Brings the results of queries up to date after a commit.
///
/// By the example of the last two of `/rooms` by `size`: a commit that writes `/rooms/a/title` says nothing of the size
/// of a room that is not among the two, so that one row is read and no more; a commit that takes one of the two away
/// leaves a place that only the store can fill, and the query is read concurrently with later commits.
extension Room {
  /// Brings the results of queries up to date, and sends what has changed.
  ///
  /// - Parameters:
  ///   - places: The paths of queries, and the data of a commit that concerns them.
  ///   - version: The version of the commit.
  func refresh(_ places: [Int: [DatabasePathValue]], _ version: StoreVersion) async {
    let reading = hub.reading(places, version)
    var whole = reading.whole
    do {
      // After a later write, the read data differs from this commit's.
      let (keys, hub) = (context.keys, hub)
      let (children, seen) =
        reading.wantsChildren
        ? try await openStore().read { (try await reading.children(in: $0, keys, hub), $0.version) } : ([:], version)
      let updated = hub.update(reading, children: children, version, isExact: seen <= version)
      for connection in updated.connections { connection.deliver() }
      whole.formUnion(updated.again)
      hub.beginReading(whole)
      readAnew(whole)
    } catch {
      // A query that cannot be read leaves its listeners with old data: they get an error, and can listen again.
      let failed = whole.union(hub.queries(at: reading.places.keys))
      for connection in hub.revoke(failed.sorted()) { connection.deliver() }
    }
  }

  /// Reads queries again concurrently with later commits, until no commit has touched them since.
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
        for connection in hub.revoke(rest.sorted()) { connection.deliver() }
      }
      reads.end()
    }
  }

  /// Reads the results of queries, each query once.
  private func read(
    _ queries: [Int: ListenHub.Query]
  ) async throws -> (results: [Int: DatabaseNode], version: StoreVersion) {
    let context = context
    let first = queries.values.first.map { QueryReader.first($0.path, $0.spec, context) }
    let rows = options.tuning.rowsInPlace
    return try await LargeReads.read(try await openStore(), rows: rows, expecting: first ?? .keys([])) { reader in
      let queryReader = try await QueryReader(reader, context, for: queries.values.lazy.map(\.spec))
      var windows: [ListenHub.Query: DatabaseNode] = [:]
      for query in Set(queries.values) { windows[query] = try await queryReader.window(query.path, query.spec).node }
      let found = windows
      return (queries.compactMapValues { found[$0] }, reader.version)
    }
  }
}

extension ListenHub.Reading {
  /// Reads the children that a commit touches and windows want, as the store has them now.
  fileprivate func children(
    in reader: any StoreReader, _ keys: Keys, _ hub: ListenHub
  ) async throws -> [DatabasePath: DatabaseNode] {
    let tree = TreeReader(reader: reader.yielding, keys: keys)
    var nodes: [DatabasePath: DatabaseNode] = [:]
    for (number, place) in places {
      for (key, node) in place.children where node == nil {
        let child = place.path.child(key)
        for index in place.indexes where nodes[child] == nil {
          let sample = try await tree.sample(child, index)
          if hub.mayTake(number, index, key, sample) { nodes[child] = try await tree.node(child) }
        }
      }
    }
    return nodes
  }
}
