import StoreInterop

/// The entries of one index behind one prefix, by their suffixes, in batches that grow.
struct EntryStream {
  struct Entry {
    var suffix: [UInt8]
    var place: Place
  }

  private let reader: any StoreReader
  private let prefix: [UInt8]
  private let order: ScanOrder
  private var rest: KeyRange?
  private var buffer: [Entry] = []
  private var position = 0
  private var batch = 32
  private(set) var scanned = 0

  init(reader: any StoreReader, prefix: [UInt8], bounds: KeyRange, order: ScanOrder) {
    self.reader = reader
    self.prefix = prefix
    self.order = order
    let upper = bounds.upper.map { prefix + $0 } ?? KeyRange(prefix: prefix).upper
    rest = KeyRange(from: prefix + bounds.lower, to: upper)
  }

  /// The entry that the stream stands at; `nil` at the end.
  mutating func head() async throws -> Entry? {
    if position < buffer.count { return buffer[position] }
    guard let range = rest, !range.isEmpty else { return nil }
    (buffer, position) = ([], 0)
    var entries: [Entry] = []
    let skipped = prefix.count
    let end = try await reader.scan(range, order: order, limit: batch) { key, value in
      let suffix = key.withUnsafeBytes { [UInt8]($0.dropFirst(skipped)) }
      entries.append(Entry(suffix: suffix, place: Place(bytes: value.bytes)))
      return .next
    }
    rest = end.rest
    scanned += entries.count
    batch = min(batch * 4, 1024)
    buffer = entries
    return buffer.first
  }

  /// Goes to the next entry.
  mutating func advance() { position += 1 }

  /// Goes on to a suffix, or to the first one behind it.
  mutating func seek(_ suffix: [UInt8]) {
    while position < buffer.count, EntryStream.isBefore(buffer[position].suffix, suffix, order) { position += 1 }
    guard position == buffer.count, let range = rest else { return }
    let key = prefix + suffix
    rest =
      order == .ascending
      ? range.intersection(KeyRange(from: key, to: nil)) : range.intersection(KeyRange(from: [], to: key + [0]))
    batch = 32
  }

  static func isBefore(_ left: [UInt8], _ right: [UInt8], _ order: ScanOrder) -> Bool {
    order == .ascending ? left.lexicographicallyPrecedes(right) : right.lexicographicallyPrecedes(left)
  }
}

/// The entries that all of some streams have.
struct EntryJoin {
  private var streams: [EntryStream]
  private let order: ScanOrder

  init(_ streams: [EntryStream], _ order: ScanOrder) {
    self.streams = streams
    self.order = order
  }

  var scanned: Int { streams.reduce(0) { $0 + $1.scanned } }

  /// The first entry that all have; each stream in turn jumps to where another one is.
  mutating func head() async throws -> EntryStream.Entry? {
    guard var best = try await streams[0].head() else { return nil }
    var agreed = 1
    var index = 0
    while agreed < streams.count {
      index = (index + 1) % streams.count
      streams[index].seek(best.suffix)
      guard let entry = try await streams[index].head() else { return nil }
      if entry.suffix == best.suffix {
        agreed += 1
      } else {
        best = entry
        agreed = 1
      }
    }
    return best
  }

  mutating func advance() {
    for index in streams.indices { streams[index].advance() }
  }
}
