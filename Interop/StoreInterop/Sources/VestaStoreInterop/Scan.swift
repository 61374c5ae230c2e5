/// The direction of a scan.
public enum ScanOrder: Sendable, Hashable {
  /// From the smallest key up.
  case ascending

  /// From the largest key down.
  case descending
}

/// The next step that a visitor wants.
public enum ScanStep: Sendable, Hashable {
  /// Give me the next entry.
  case next

  /// This entry was the last one I wanted.
  case stop
}

/// The end of a scan.
public struct ScanEnd: Sendable, Hashable {
  /// How many entries were visited.
  public let visited: Int

  /// The part of the range that has not been visited; `nil` when the scan reached its end.
  ///
  /// It begins right after the last entry that was visited, in the order of the scan, and is the whole range when none
  /// was. Scanning it in the same order continues where the scan stopped, in this snapshot or in a later one: there it
  /// shows what has been put after that entry since. A scan that stops at its last entry may report a rest with
  /// nothing in it.
  public let rest: KeyRange?

  /// The end of a scan.
  ///
  /// - Parameters:
  ///   - visited: How many entries were visited.
  ///   - rest: The part that has not been visited.
  public init(visited: Int, rest: KeyRange?) {
    self.visited = visited
    self.rest = rest
  }
}

/// A key and its value, copied out of a store.
public struct StoreEntry: Sendable, Hashable {
  /// The key.
  public let key: [UInt8]

  /// The value under the key.
  public let value: [UInt8]

  /// An entry of a key and its value.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value under it.
  public init(key: [UInt8], value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

extension StoreReader {
  /// Copies the entries of a range.
  ///
  /// - Parameters:
  ///   - range: Which keys.
  ///   - order: Ascending or descending byte order.
  ///   - limit: How many at the most; `nil` for all.
  /// - Returns: The entries in that order.
  public func entries(
    in range: KeyRange,
    order: ScanOrder = .ascending,
    limit: Int? = nil
  ) async throws -> [StoreEntry] {
    var entries: [StoreEntry] = []
    _ = try await scan(range, order: order, limit: limit) { key, value in
      entries.append(StoreEntry(key: key.bytes, value: value.bytes))
      return .next
    }
    return entries
  }
}

extension RawSpan {
  /// A copy of the bytes.
  public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}
