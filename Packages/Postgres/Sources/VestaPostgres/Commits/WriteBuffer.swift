import VestaStoreInterop

/// The changes of a transaction before its commit: ranges that were emptied, then single keys.
struct WriteBuffer: Sendable {
  /// The values that were put, `nil` for deleted ones; they take precedence over the ranges.
  private(set) var values: [[UInt8]: [UInt8]?] = [:]
  private(set) var ranges: [KeyRange] = []

  /// The keys in order, as long as they are the same.
  private var sorted: [[UInt8]]?

  var isEmpty: Bool { values.isEmpty && ranges.isEmpty }

  /// Whether nothing is put, so that the changes may have no effect.
  var onlyDeletes: Bool { values.values.allSatisfy { $0 == nil } }

  /// Whether a key is put that has no place in the index.
  var putsLong: Bool { values.contains { $0.value != nil && $0.key.count > Schema.longestIndexedKey } }

  mutating func put(_ value: [UInt8], for key: [UInt8]) { set(.some(value), for: key) }

  mutating func delete(_ key: [UInt8]) { set(.none, for: key) }

  private mutating func set(_ value: [UInt8]?, for key: [UInt8]) {
    if values.updateValue(value, forKey: key) == nil { sorted = nil }
  }

  mutating func delete(_ range: KeyRange) {
    if range.isEmpty { return }
    values = values.filter { !range.contains($0.key) }
    sorted = nil
    if ranges.contains(range) { return }
    ranges.append(range)
  }

  /// Adds the changes of a later transaction.
  mutating func add(_ other: WriteBuffer) {
    for range in other.ranges { delete(range) }
    for (key, value) in other.values { set(value, for: key) }
  }

  /// The value of a key here: `nil` for not changed, `.some(nil)` for deleted.
  func change(of key: [UInt8]) -> [UInt8]?? {
    if let value = values[key] { return .some(value) }
    return ranges.contains { $0.contains(key) } ? .some(nil) : nil
  }

  /// The changed keys in a range, in order.
  mutating func changes(in range: KeyRange) -> [(key: [UInt8], value: [UInt8]?)] {
    if values.isEmpty || range.isEmpty { return [] }
    let keys = sorted ?? values.keys.sorted { $0.lexicographicallyPrecedes($1) }
    sorted = keys
    let start = WriteBuffer.firstIndex(in: keys, notBelow: range.lower)
    let end = range.upper.map { WriteBuffer.firstIndex(in: keys, notBelow: $0) } ?? keys.count
    guard start < end else { return [] }
    return keys[start..<end].map { ($0, values[$0] ?? nil) }
  }

  private static func firstIndex(in keys: [[UInt8]], notBelow key: [UInt8]) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if keys[middle].lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
