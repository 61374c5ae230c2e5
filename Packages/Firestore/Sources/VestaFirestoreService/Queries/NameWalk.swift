import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaStoreInterop

/// Visits documents of all collections in the order of their names.
///
/// The documents of a collection are side by side in the store, before the documents below them; names have what is
/// below a document right after it. So the walk merges the documents of a collection with the sub-trees below them,
/// each of which costs one row more.
struct NameWalk {
  let snapshot: Snapshot
  /// Whether collections at any depth count, and not only those right below the beginning.
  let isDeep: Bool

  /// Takes a document and returns whether to continue.
  typealias Visit = (_ pathKey: PathKey, _ row: [UInt8]) throws -> Bool

  /// Visits what is below the root or a document.
  ///
  /// - Parameters:
  ///   - parent: The root or a document.
  ///   - first: The segments after the parent's of the first name that is wanted.
  /// - Returns: Whether the visitor wants to continue.
  func visit(below parent: ResourcePath, from first: ArraySlice<String>, _ visit: Visit) async throws -> Bool {
    var prefix = KeyEncoder(continuing: snapshot.keys.documents)
    prefix.append(path: parent)
    var from = prefix
    if let segment = first.first { from.append(segment: segment) }
    while let id = try await segment(behind: prefix, from: from.bytes) {
      let start = first.first.map { UTF8Order.equal($0, id) } == true ? first.dropFirst() : []
      guard try await self.visit(collection: parent.appending(id), from: start, visit) else { return false }
      from = prefix
      from.append(segment: id)
      from = KeyEncoder(continuing: from.range.upper ?? from.bytes)
    }
    return true
  }

  private func visit(
    collection: ResourcePath, from first: ArraySlice<String>, _ visit: Visit
  ) async throws -> Bool {
    var documents = DocumentStream(collection, from: first, in: snapshot)
    var prefix = KeyEncoder(continuing: snapshot.keys.documents)
    prefix.append(path: collection)
    var from = prefix
    if let segment = first.first { from.append(segment: segment) } else { from.appendNull() }
    if first.isEmpty { from = KeyEncoder(continuing: from.range.upper ?? from.bytes) }
    var child = isDeep ? try await segment(behind: prefix, from: from.bytes) : nil
    while true {
      let document = try await documents.head()
      if let document, child.map({ ResourcePath.compare(segment: document.id, $0) <= 0 }) ?? true {
        guard try visit(document.pathKey, document.row) else { return false }
        documents.advance()
        continue
      }
      guard let id = child else { return true }
      let start = first.first.map { UTF8Order.equal($0, id) } == true ? first.dropFirst() : []
      guard try await self.visit(below: collection.appending(id), from: start, visit) else { return false }
      from = prefix
      from.append(segment: id)
      child = try await segment(behind: prefix, from: from.range.upper ?? from.bytes)
    }
  }

  /// The first segment after a prefix in the keys from here on.
  private func segment(behind prefix: KeyEncoder, from lower: [UInt8]) async throws -> String? {
    let range = KeyRange(from: lower, to: prefix.range.upper)
    guard let key = try await snapshot.reader.firstKey(in: range) else { return nil }
    var decoder = KeyDecoder(key, from: prefix.bytes.count)
    guard let element = try decoder.next() else { throw FirestoreServiceError.damaged }
    return try PathKey.segment(element)
  }
}

/// The documents of one collection in order, in batches that grow.
private struct DocumentStream {
  struct Item {
    var id: String
    var pathKey: PathKey
    var row: [UInt8]
  }

  private let snapshot: Snapshot
  private let prefix: [UInt8]
  private var rest: KeyRange?
  private var buffer: [Item] = []
  private var position = 0
  private var batch: Int

  /// - Parameter first: The identifier to begin with, and what follows it; with more after it, the document itself
  ///   precedes the beginning.
  init(_ collection: ResourcePath, from first: ArraySlice<String>, in snapshot: Snapshot) {
    self.snapshot = snapshot
    batch = min(snapshot.tuning.queries.firstNames, snapshot.tuning.queries.mostNames)
    let all = snapshot.keys.documents(of: collection)
    prefix = all.lower
    var lower = KeyEncoder(continuing: prefix)
    if let segment = first.first { lower.append(segment: segment) }
    rest = KeyRange(from: first.count > 1 ? lower.range.upper ?? lower.bytes : lower.bytes, to: all.upper)
  }

  mutating func head() async throws -> Item? {
    if position < buffer.count { return buffer[position] }
    guard let range = rest else { return nil }
    var entries: [StoreEntry] = []
    var bytes = 0
    let most = snapshot.entryTuning.batchBytes
    let end = try await snapshot.reader.scan(range, order: .ascending, limit: batch) { key, value in
      entries.append(StoreEntry(key: key.bytes, value: value.bytes))
      bytes += value.byteCount
      return bytes < most ? .next : .stop
    }
    rest = end.rest
    batch = min(batch * 2, snapshot.tuning.queries.mostNames)
    position = 0
    buffer = try entries.map { entry in
      var decoder = KeyDecoder(entry.key, from: prefix.count)
      guard let element = try decoder.next() else { throw FirestoreServiceError.damaged }
      let pathKey = snapshot.keys.pathKey(ofDocumentKey: entry.key)
      return Item(id: try PathKey.segment(element), pathKey: pathKey, row: entry.value)
    }
    return buffer.first
  }

  mutating func advance() { position += 1 }
}

extension QueryRunner {
  /// Answers a query of all collections, which is one of names alone, in their order; a page of it.
  func walk(_ size: PageSize) async throws -> QueryPage {
    var sink = QuerySink(query)
    var past = try PastDocuments(of: query, in: snapshot).documents[...]
    var (read, bytes) = (0, 0)
    // The last document that was looked at, and whether the page ended there.
    var (last, isCut) = (nil as Document?, false)
    let (lower, upper) = query.nameBounds
    if let first = query.parent.path.segments(from: lower) {
      let walk = NameWalk(snapshot: snapshot, isDeep: query.allDescendants)
      _ = try await walk.visit(below: query.parent.path, from: first) { pathKey, row in
        if last != nil, sink.count >= size.documents || bytes >= size.bytes {
          isCut = true
          return false
        }
        read += 1
        if snapshot.past[pathKey] != nil { return true }
        let stored = try StoredDocument(pathKey: pathKey, row: row)
        if let upper, stored.path > upper { return false }
        let document = stored.document(in: snapshot.name)
        if query.begins(before: document) { last = document }
        bytes += row.count
        guard query.matches(document, at: stored.path) else { return true }
        while let first = past.first, query.compare(first, document) < 0 { sink.take(past.removeFirst()) }
        sink.take(document)
        return !sink.isFull
      }
    }
    let end = isCut ? last : nil
    for document in past {
      if let end, query.compare(end, document) < 0 { break }
      sink.take(document)
    }
    let answer = QueryAnswer(documents: sink.documents, skipped: sink.skipped, read: read)
    guard let end, !sink.isFull else { return QueryPage(answer: answer, rest: .none) }
    return QueryPage(answer: answer, rest: .after(QueryPosition(after: end, of: query, sink, RaceProgress())))
  }
}

extension ResourcePath {
  /// The segments after this path from which names at or after a bound begin; `nil` when all sort before it.
  func segments(from bound: ResourcePath?) -> ArraySlice<String>? {
    guard let bound, bound > self else { return [] }
    return bound.hasPrefix(self) ? bound.segments.dropFirst(segments.count) : nil
  }
}

extension NormalQuery {
  /// Names between which all results are.
  var nameBounds: (lower: ResourcePath?, upper: ResourcePath?) {
    var alternatives: [(lower: ResourcePath?, upper: ResourcePath?)] = []
    for conjunction in filter.conjunctions {
      var lower = startAt?.values.first?.documentPath
      if let after, let path = Value.reference(after.name).documentPath { lower = lower.map { max($0, path) } ?? path }
      var upper = endAt?.values.first?.documentPath
      for predicate in conjunction where predicate.path.isDocumentName {
        switch predicate.test {
        case .equal(let value), .compare(.greater, let value), .compare(.greaterOrEqual, let value):
          if let path = value.documentPath { lower = lower.map { max($0, path) } ?? path }
        default: break
        }
        switch predicate.test {
        case .equal(let value), .compare(.less, let value), .compare(.lessOrEqual, let value):
          if let path = value.documentPath { upper = upper.map { min($0, path) } ?? path }
        default: break
        }
      }
      alternatives.append((lower, upper))
    }
    guard let first = alternatives.first else { return (nil, nil) }
    return alternatives.dropFirst().reduce(first) { known, other in
      let lower = known.lower.flatMap { lower in other.lower.map { min(lower, $0) } }
      return (lower, known.upper.flatMap { upper in other.upper.map { max(upper, $0) } })
    }
  }
}
