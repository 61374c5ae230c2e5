/// Texts as the service takes them: equal and ordered by their UTF-8 bytes.
///
/// Swift's own `==` and `<` of strings go by canonical equivalence, and would take two documents for one. Use these
/// wherever names, paths and texts of Firestore are compared.
public enum UTF8Order {
  /// Below zero, zero, or above zero, as the first text comes before, equals, or comes after the second.
  ///
  /// - Parameters:
  ///   - left: A text.
  ///   - right: Another text.
  public static func compare(_ left: String, _ right: String) -> Int {
    // Unsafe pointers, used inside the closures only: bytes of native strings are compared without going by index.
    let fast = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in compare(bytes: left, right) }
    }
    if let outer = fast, let result = outer { return result }
    return compare(bytes: Array(left.utf8), Array(right.utf8))
  }

  /// Whether two texts have the same bytes.
  ///
  /// - Parameters:
  ///   - left: A text.
  ///   - right: Another text.
  public static func equal(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && compare(left, right) == 0
  }

  /// Feeds the bytes of a text, and their count.
  ///
  /// - Parameters:
  ///   - text: The text.
  ///   - hasher: What to feed.
  public static func hash(_ text: String, into hasher: inout Hasher) {
    hasher.combine(text.utf8.count)
    var text = text
    // Unsafe pointer, used inside the closure only: the hasher takes bytes in this form.
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Compares bytes as unsigned numbers, a shorter text before the longer one that it begins.
  ///
  /// - Parameters:
  ///   - left: Bytes.
  ///   - right: Other bytes.
  public static func compare(bytes left: [UInt8], _ right: [UInt8]) -> Int {
    // Unsafe pointers, used inside the closures only: texts and bytes share one comparison.
    left.withUnsafeBufferPointer { left in right.withUnsafeBufferPointer { compare(bytes: left, $0) } }
  }

  private static func compare(bytes left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
    let common = min(left.count, right.count)
    var offset = 0
    while offset < common {
      if left[offset] != right[offset] { return left[offset] < right[offset] ? -1 : 1 }
      offset += 1
    }
    return left.count - right.count
  }
}
