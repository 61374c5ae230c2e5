/// Equality and order of strings by their UTF-8 bytes.
///
/// Swift's own `==` and `<` of strings go by canonical equivalence: a composed and a decomposed "é" are equal there.
/// Names, paths and string values of the services are compared by their bytes instead.
public enum UTF8Order {
  /// Negative, zero or positive, as the first string sorts before, equals, or sorts after the second.
  ///
  /// - Parameters:
  ///   - left: A string.
  ///   - right: Another string.
  public static func compare(_ left: String, _ right: String) -> Int {
    // Unsafe pointers, used inside the closures only: bytes of native strings are compared without going by index.
    let fast = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in compare(buffers: left, right) }
    }
    if let outer = fast, let result = outer { return result }
    return compare(bytes: Array(left.utf8), Array(right.utf8))
  }

  /// Whether two strings have the same bytes.
  ///
  /// - Parameters:
  ///   - left: A string.
  ///   - right: Another string.
  public static func equal(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && compare(left, right) == 0
  }

  /// Whether the first string sorts before the second.
  public static func precedes(_ left: String, _ right: String) -> Bool { compare(left, right) < 0 }

  /// Feeds the bytes of a string, and their count.
  ///
  /// - Parameters:
  ///   - string: The string.
  ///   - hasher: The hasher to feed.
  public static func hash(_ string: String, into hasher: inout Hasher) {
    hasher.combine(string.utf8.count)
    var string = string
    // Unsafe pointer, used inside the closure only: the hasher takes bytes in this form.
    string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Compares bytes as unsigned numbers; a prefix sorts before the longer sequence.
  ///
  /// - Parameters:
  ///   - left: Bytes.
  ///   - right: Other bytes.
  public static func compare(bytes left: [UInt8], _ right: [UInt8]) -> Int {
    // Unsafe pointers, used inside the closures only: strings and bytes share one comparison.
    left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { compare(buffers: left, $0) } }
  }

  private static func compare(buffers left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let common = min(left.count, right.count)
    var offset = 0
    while offset < common {
      if left[offset] != right[offset] { return left[offset] < right[offset] ? -1 : 1 }
      offset += 1
    }
    return left.count - right.count
  }
}

/// A string with the equality, order and hash of its UTF-8 bytes, for keys of dictionaries and members of sets.
public struct UTF8String: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The string.
  public let string: String

  /// Wraps a string.
  public init(_ string: String) { self.string = string }

  /// The string.
  public var description: String { string }

  /// Whether the bytes are the same.
  public static func == (left: UTF8String, right: UTF8String) -> Bool { UTF8Order.equal(left.string, right.string) }

  /// Whether the first sorts before the second in the order of their bytes.
  public static func < (left: UTF8String, right: UTF8String) -> Bool {
    UTF8Order.precedes(left.string, right.string)
  }

  /// Feeds the bytes.
  public func hash(into hasher: inout Hasher) { UTF8Order.hash(string, into: &hasher) }
}
