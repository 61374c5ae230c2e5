import VestaStoreInterop

/// Which keys a commit has changed, or a transaction has read: single ones and ranges.
struct ChangedKeys: Sendable, Equatable {
  private(set) var keys: Set<[UInt8]> = []
  private(set) var ranges: [KeyRange] = []

  init() {}

  init(_ buffer: WriteBuffer) {
    keys = Set(buffer.values.keys)
    ranges = buffer.ranges
  }

  mutating func add(_ key: [UInt8]) { keys.insert(key) }

  mutating func add(_ range: KeyRange) {
    if range.isEmpty || ranges.last == range { return }
    ranges.append(range)
  }

  /// Whether something is in both.
  func meets(_ other: ChangedKeys) -> Bool {
    let (few, many) = keys.count < other.keys.count ? (keys, other.keys) : (other.keys, keys)
    if few.contains(where: many.contains) { return true }
    for range in ranges where other.keys.contains(where: range.contains) { return true }
    for range in other.ranges where keys.contains(where: range.contains) { return true }
    return ranges.contains { range in other.ranges.contains { range.meets($0) } }
  }

  // MARK: In a row

  /// The row; beyond the limit of bytes it is the range that has all keys.
  func bytes(upTo largest: Int = PostgresTuning().changedBytes) -> [UInt8] {
    let size = keys.reduce(0) { $0 + $1.count + 4 } + ranges.reduce(0) { $0 + $1.lower.count + ($1.upper?.count ?? 0) }
    if size > largest, let whole { return ChangedKeys.row(keys: [], ranges: [whole]) }
    return ChangedKeys.row(keys: keys.sorted { $0.lexicographicallyPrecedes($1) }, ranges: ranges)
  }

  /// One range that has everything.
  private var whole: KeyRange? {
    let lowest = (keys + ranges.map(\.lower)).min { $0.lexicographicallyPrecedes($1) }
    guard let lowest else { return nil }
    if ranges.contains(where: { $0.upper == nil }) { return KeyRange(from: lowest, to: nil) }
    let ends = keys.map { $0 + [0] } + ranges.compactMap(\.upper)
    return KeyRange(from: lowest, to: ends.max { $0.lexicographicallyPrecedes($1) })
  }

  private static func row(keys: [[UInt8]], ranges: [KeyRange]) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(count: keys.count)
    for key in keys { writer.write(blob: key) }
    for range in ranges {
      writer.write(blob: range.lower)
      writer.write(byte: range.upper == nil ? 0 : 1)
      if let upper = range.upper { writer.write(blob: upper) }
    }
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(BytesError) {
    var reader = ByteReader(bytes)
    for _ in 0..<(try reader.count()) { keys.insert(Array(try reader.blob())) }
    while !reader.isAtEnd {
      let lower = Array(try reader.blob())
      let upper = try reader.byte() == 0 ? nil : Array(try reader.blob())
      ranges.append(KeyRange(from: lower, to: upper))
    }
  }
}

extension KeyRange {
  /// Whether two ranges have keys in common.
  func meets(_ other: KeyRange) -> Bool {
    if isEmpty || other.isEmpty { return false }
    let begins = other.upper.map { lower.lexicographicallyPrecedes($0) } ?? true
    let ends = upper.map { other.lower.lexicographicallyPrecedes($0) } ?? true
    return begins && ends
  }
}
