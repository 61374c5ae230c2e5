extension OrderedStore {
  /// Reads at one version that is at or above a given one; see `raiseFloor(to:)`.
  ///
  /// - Parameters:
  ///   - version: The least version that the read must see. No later commit gets a version at or below it.
  ///   - body: The read; `reader.version` may be above `version`.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body, `CancellationError`, or `StoreError`.
  public func read<Result>(
    atLeast version: StoreVersion,
    _ body: (any StoreReader) async throws -> Result
  ) async throws -> Result {
    _ = try await raiseFloor(to: version)
    return try await read(body)
  }

  /// Returns the value under a key, in a separate read.
  ///
  /// - Parameter key: The whole key.
  /// - Returns: The value; `nil` when there is none.
  public func get(_ key: [UInt8]) async throws -> [UInt8]? {
    try await read(expecting: .keys([key])) { try await $0.get(key) }
  }

  /// Returns the values under several keys, in one read.
  ///
  /// - Parameter keys: Whole keys in any order.
  /// - Returns: A value or `nil` for each key, in the order of the keys.
  public func get(_ keys: [[UInt8]]) async throws -> [[UInt8]?] {
    try await read(expecting: .keys(keys)) { try await $0.get(keys) }
  }

  /// Puts a value under a key, in a separate transaction.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - key: The whole key.
  /// - Returns: The version of the commit.
  @discardableResult
  public func put(_ value: [UInt8], for key: [UInt8]) async throws -> StoreVersion {
    try await write { try await $0.put(value, for: key) }.version
  }

  /// Deletes a key, in a separate transaction; does nothing when it is absent.
  ///
  /// - Parameter key: The whole key.
  /// - Returns: The version of the commit.
  @discardableResult
  public func delete(_ key: [UInt8]) async throws -> StoreVersion {
    try await write { try await $0.delete(key) }.version
  }

  /// Returns the first entry of a range, in a separate read.
  ///
  /// - Parameter range: Which keys.
  /// - Returns: The entry with the smallest key; `nil` when the range is empty.
  public func first(in range: KeyRange) async throws -> StoreEntry? {
    try await read(expecting: .scan(range, order: .ascending, limit: 1)) { try await $0.first(in: range) }
  }

  /// Returns the last entry of a range, in a separate read.
  ///
  /// - Parameter range: Which keys.
  /// - Returns: The entry with the largest key; `nil` when the range is empty.
  public func last(in range: KeyRange) async throws -> StoreEntry? {
    try await read(expecting: .scan(range, order: .descending, limit: 1)) { try await $0.last(in: range) }
  }
}

extension StoreReader {
  /// Returns the first entry of a range.
  ///
  /// - Parameter range: Which keys.
  /// - Returns: The entry with the smallest key; `nil` when the range is empty.
  public func first(in range: KeyRange) async throws -> StoreEntry? { try await entries(in: range, limit: 1).first }

  /// Returns the first key of a range, without its value.
  ///
  /// - Parameter range: Which keys.
  /// - Returns: The smallest key; `nil` when the range is empty.
  public func firstKey(in range: KeyRange) async throws -> [UInt8]? {
    var first: [UInt8]?
    _ = try await scan(range, order: .ascending, limit: 1) { key, _ in
      first = key.bytes
      return .stop
    }
    return first
  }

  /// Returns the last entry of a range.
  ///
  /// - Parameter range: Which keys.
  /// - Returns: The entry with the largest key; `nil` when the range is empty.
  public func last(in range: KeyRange) async throws -> StoreEntry? {
    try await entries(in: range, order: .descending, limit: 1).first
  }
}
