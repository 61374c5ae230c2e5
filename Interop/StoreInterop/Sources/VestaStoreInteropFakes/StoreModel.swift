import VestaBytes
public import VestaStoreInterop

/// The content of a store as a plain sorted array: slow, and too simple to be wrong.
public struct StoreModel: Sendable, Equatable {
  /// The entries in ascending order of their keys.
  public private(set) var entries: [StoreEntry] = []

  /// A model with nothing in it.
  public init() {}

  /// The value under a key.
  ///
  /// - Parameter key: The whole key.
  public func get(_ key: [UInt8]) -> [UInt8]? {
    let index = position(of: key)
    return index < entries.count && entries[index].key == key ? entries[index].value : nil
  }

  /// Puts a value under a key.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The whole key.
  public mutating func put(_ value: [UInt8], for key: [UInt8]) {
    let index = position(of: key)
    let entry = StoreEntry(key: key, value: value)
    if index < entries.count, entries[index].key == key {
      entries[index] = entry
    } else {
      entries.insert(entry, at: index)
    }
  }

  /// Takes a key away.
  ///
  /// - Parameter key: The whole key.
  public mutating func delete(_ key: [UInt8]) {
    let index = position(of: key)
    if index < entries.count, entries[index].key == key { entries.remove(at: index) }
  }

  /// Takes a range away.
  ///
  /// - Parameter range: Which keys.
  public mutating func deleteRange(_ range: KeyRange) { entries.removeSubrange(positions(in: range)) }

  /// The entries of a range.
  ///
  /// - Parameters:
  ///   - range: Which keys.
  ///   - order: Ascending or descending.
  ///   - limit: How many at the most.
  public func entries(in range: KeyRange, order: ScanOrder, limit: Int?) -> [StoreEntry] {
    let found = entries[positions(in: range)]
    let count = min(found.count, limit ?? .max)
    return order == .ascending ? Array(found.prefix(count)) : found.suffix(count).reversed()
  }

  /// The indexes of the entries of a range: they are neighbours, as the entries are sorted.
  private func positions(in range: KeyRange) -> Range<Int> {
    let start = position(of: range.lower)
    let end = range.upper.map { position(of: $0) } ?? entries.count
    return start..<max(start, end)
  }

  /// The index of a key, or where it would be inserted.
  private func position(of key: [UInt8]) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      // Not by `lexicographicallyPrecedes`, which takes seventy times as long in a debug build, as all tests are.
      if UTF8Order.compare(bytes: entries[middle].key, key) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
