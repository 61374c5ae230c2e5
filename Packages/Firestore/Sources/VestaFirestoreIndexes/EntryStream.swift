package import VestaStoreInterop

/// The entries of one scan by their suffixes, in batches that grow; suffixes ascend in the direction of the query.
package struct EntryStream {
  package struct Entry {
    package var suffix: [UInt8]
    /// The value under the key: an `EntryValue` of an index, the row of a document.
    package var value: [UInt8]
  }

  private let reader: any IndexedReader
  /// The prefix of the path keys, for a scan of documents.
  private let collection: [UInt8]
  private let prefix: [UInt8]
  private let isTurned: Bool
  /// Whether the scan is one of documents, and not of an index.
  package let isOfDocuments: Bool
  private var rest: KeyRange
  private var buffer: [Entry] = []
  private var position = 0
  private var batch: Int
  private var growth = 4
  package private(set) var scanned = 0

  /// - Parameter batch: How many entries are likely to be wanted.
  package init(_ scan: QueryPlan.Scan, bounds: KeyRange, batch: Int, in reader: any IndexedReader) {
    self.reader = reader
    isTurned = scan.isTurned
    rest = bounds
    self.batch = batch
    switch scan.source {
    case .documents(let collection):
      prefix = reader.documentPrefix(of: collection)
      self.collection = PathKey.prefix(of: collection)
      isOfDocuments = true
    case .index(let id, _):
      prefix = reader.entryPrefix(ofIndex: id) + scan.prefix
      collection = []
      isOfDocuments = false
    }
  }

  /// The current entry of the stream; `nil` at the end.
  package mutating func head() async throws -> Entry? {
    if position < buffer.count { return buffer[position] }
    if rest.isEmpty { return nil }
    var entries: [Entry] = []
    var bytes = 0
    let most = reader.entryTuning.batchBytes
    entries.reserveCapacity(batch)
    let (skipped, mask) = (prefix.count, isTurned ? UInt8.max : 0)
    let end = try await reader.scan(range, order: order, limit: batch) { key, value in
      // Unsafe pointer, used inside the closure only: the suffix is copied once, turned on the way.
      let suffix = key.withUnsafeBytes { key in
        [UInt8](unsafeUninitializedCapacity: key.count - skipped) { buffer, count in
          count = key.count - skipped
          for index in 0..<count { buffer[index] = key[skipped + index] ^ mask }
        }
      }
      entries.append(Entry(suffix: suffix, value: value.bytes))
      bytes += value.byteCount
      return bytes < most ? .next : .stop
    }
    advance(behind: end.rest == nil ? nil : entries.last?.suffix)
    scanned += entries.count
    batch = min(batch * growth, reader.entryTuning.largestBatch)
    (buffer, position) = (entries, 0)
    return buffer.first
  }

  /// Moves to the next entry.
  package mutating func advance() { position += 1 }

  /// Moves to a suffix, or to the first one after it.
  package mutating func seek(_ suffix: [UInt8]) {
    while position < buffer.count, buffer[position].suffix.lexicographicallyPrecedes(suffix) { position += 1 }
    guard position == buffer.count, rest.lower.lexicographicallyPrecedes(suffix) else { return }
    rest = KeyRange(from: suffix, to: rest.upper)
    // A reader that jumps needs few of the entries there.
    (batch, growth) = (4, 2)
  }

  /// Counts the entries from here on; they are neither kept nor copied.
  package mutating func count(atMost limit: Int) async throws -> Int {
    var count = 0
    while count < limit, !rest.isEmpty {
      var last: [UInt8] = []
      let wanted = min(limit - count, reader.entryTuning.countedTogether)
      var visited = 0
      let end = try await reader.scan(range, order: order, limit: wanted) { key, _ in
        visited += 1
        if visited == wanted { last = key.bytes }
        return .next
      }
      count += visited
      let suffix = Array(last.dropFirst(prefix.count))
      advance(behind: end.rest == nil || visited < wanted ? nil : isTurned ? suffix.turned : suffix)
    }
    scanned += count
    return count
  }

  /// The path key of the document that an entry is of.
  package func pathKey(of entry: Entry) -> PathKey {
    guard isOfDocuments else { return EntryValue.pathKey(entry.value) }
    return PathKey(bytes: collection + (isTurned ? entry.suffix.turned : entry.suffix))
  }

  private var range: KeyRange { (isTurned ? rest.turned : rest).behind(prefix) }

  private var order: ScanOrder { isTurned ? .descending : .ascending }

  private mutating func advance(behind suffix: [UInt8]?) {
    // No suffix begins another one, so what begins with this one is this one alone.
    guard let suffix, let next = KeyRange(prefix: suffix).upper else {
      rest = .nothing
      return
    }
    rest = KeyRange(from: next, to: rest.upper)
  }
}
