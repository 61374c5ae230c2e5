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
  public mutating func deleteRange(_ range: KeyRange) { entries.removeAll { range.contains($0.key) } }

  /// The entries of a range.
  ///
  /// - Parameters:
  ///   - range: Which keys.
  ///   - order: Ascending or descending.
  ///   - limit: How many at the most.
  public func entries(in range: KeyRange, order: ScanOrder, limit: Int?) -> [StoreEntry] {
    let found = entries.filter { range.contains($0.key) }
    return Array((order == .ascending ? found : found.reversed()).prefix(limit ?? .max))
  }

  /// The index of a key, or where it would be inserted.
  private func position(of key: [UInt8]) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key.lexicographicallyPrecedes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
