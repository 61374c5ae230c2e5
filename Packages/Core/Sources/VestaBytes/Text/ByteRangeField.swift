/// One range of bytes that a client asks for with the HTTP field `range` (RFC 9110, section 14).
///
/// ```swift
/// ByteRangeField("bytes=5-9")                 // .bounds(5, 9)
/// ByteRangeField("bytes=-3")?.bytes(of: 10)   // 7...9
/// ByteRangeField("bytes=0-1,5-6")             // nil: several ranges are ignored
/// ```
public enum ByteRangeField: Sendable, Hashable {
  /// From a byte to the end.
  case from(Int64)
  /// The last bytes.
  case suffix(Int64)
  /// The bytes between two, both included.
  case bounds(Int64, Int64)

  /// Reads the value of the field.
  ///
  /// - Parameter field: The value; `nil` for one that is to be ignored: of several ranges, of another unit, or none. A
  ///   number beyond 64 bits is the largest one.
  public init?(_ field: some StringProtocol) {
    guard field.lowercased().hasPrefix("bytes=") else { return nil }
    let parts = field.dropFirst(6).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    switch (parts[0].isEmpty, parts[1].isEmpty) {
    case (true, true): return nil
    case (true, false):
      guard let count = Self.number(parts[1]) else { return nil }
      self = .suffix(count)
    case (false, true):
      guard let first = Self.number(parts[0]) else { return nil }
      self = .from(first)
    case (false, false):
      guard let first = Self.number(parts[0]), let last = Self.number(parts[1]), last >= first else { return nil }
      self = .bounds(first, last)
    }
  }

  /// The value of the field.
  public var text: String {
    switch self {
    case .from(let first): "bytes=\(first)-"
    case .suffix(let count): "bytes=-\(count)"
    case .bounds(let first, let last): "bytes=\(first)-\(last)"
    }
  }

  /// The bytes of a content of the given size; `nil` when there are none, which is the status 416.
  public func bytes(of size: Int64) -> ClosedRange<Int64>? {
    guard size > 0 else { return nil }
    switch self {
    case .from(let first): return first < size ? first...(size - 1) : nil
    case .suffix(let count): return count > 0 ? max(0, size - count)...(size - 1) : nil
    case .bounds(let first, let last): return first < size ? first...min(last, size - 1) : nil
    }
  }

  private static func number(_ text: some StringProtocol) -> Int64? {
    guard text.utf8.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
    return Int64(text) ?? .max
  }
}
