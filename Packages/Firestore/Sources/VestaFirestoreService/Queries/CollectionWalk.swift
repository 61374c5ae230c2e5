import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Finds what is below a path without reading what is below that: it jumps from one segment to the next.
struct CollectionWalk {
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) { self.snapshot = snapshot.reading(with: snapshot.reader.yielding) }

  /// The segments that follow a path in the keys of documents below it, each once, in order.
  ///
  /// Below a document, these are its collections. Below a collection, the documents that something is below, whether
  /// they are there or not; the collection's own documents do not count. It costs one row for each of them.
  func children(of path: ResourcePath, after last: String?, atMost count: Int) async throws -> [String] {
    var prefix = KeyEncoder(continuing: snapshot.keys.documents)
    prefix.append(path: path)
    var start = prefix
    if let last { start.append(segment: last) } else { start.appendNull() }
    var found: [String] = []
    var rest = KeyRange(from: start.range.upper ?? prefix.bytes, to: prefix.range.upper)
    while found.count < count, let key = try await snapshot.reader.firstKey(in: rest) {
      var decoder = KeyDecoder(key, from: prefix.bytes.count)
      guard let element = try decoder.next() else { throw FirestoreServiceError.damaged }
      let segment = try PathKey.segment(element)
      var child = prefix
      child.append(segment: segment)
      if try await isThere(child.range) { found.append(segment) }
      rest = KeyRange(from: child.range.upper ?? key, to: rest.upper)
    }
    return try merge(found, below: path, after: last, atMost: count)
  }

  /// Whether the version that is read has a document in a range of the latest version.
  private func isThere(_ range: KeyRange) async throws -> Bool {
    if snapshot.past.isEmpty { return true }
    var isThere = false
    _ = try await snapshot.reader.scan(range, order: .ascending, limit: nil) { key, _ in
      isThere = snapshot.past[snapshot.keys.pathKey(ofDocumentKey: key.bytes)] == nil
      return isThere ? .stop : .next
    }
    return isThere
  }

  /// Adds the documents that existed at the version that is read and have changed since.
  private func merge(
    _ found: [String], below path: ResourcePath, after last: String?, atMost count: Int
  ) throws -> [String] {
    var paths = Set(found.map { ResourcePath([$0]) })
    for (pathKey, row) in snapshot.past where row != nil {
      let segments = try pathKey.path().segments
      guard ResourcePath(segments).hasPrefix(path), segments.count > path.segments.count else { continue }
      // A document of the collection itself is no child that something is below.
      if path.isCollection, segments.count == path.segments.count + 1 { continue }
      let child = segments[path.segments.count]
      if last.map({ ResourcePath.compare(segment: child, $0) > 0 }) ?? true { paths.insert(ResourcePath([child])) }
    }
    return paths.sorted().prefix(count).map(\.lastSegment)
  }
}
