/// A key of the tree: one name between two slashes of a path.
///
/// Keys are equal when their UTF-8 bytes are. Their order is Firebase's: keys that read as 32-bit integers are first,
/// by number and then by length ("1" before "01"); the others follow by UTF-16 code units.
public struct DatabaseKey: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The key as a string.
  public let text: String

  /// The integer; for a string a number above all integers with its first bytes; for the two ends the ends.
  ///
  /// Most comparisons of keys end here, without a look at the strings.
  let order: Int64

  /// The smallest order of a string: the start to which the first bytes are added.
  private static let textOrder: Int64 = 1 << 58
  /// The number of first bytes of a string that are in its order.
  private static let orderedBytes = 7

  /// The key below all others.
  public static let minimum = DatabaseKey("[MIN_NAME]", order: .min)

  /// The key above all others.
  public static let maximum = DatabaseKey("[MAX_NAME]", order: .max)

  /// The key under which a node's priority is addressed.
  public static let priority = DatabaseKey(".priority")

  /// A key from its string, which is not validated here.
  public init(_ text: String) {
    self.text = text
    order = Self.integer(text).map(Int64.init) ?? Self.textOrder + Self.firstBytes(of: text)
  }

  /// A key from a literal.
  public init(stringLiteral text: String) { self.init(text) }

  private init(_ text: String, order: Int64) {
    self.text = text
    self.order = order
  }

  /// The 32-bit integer that the key reads as; `nil` for other keys.
  public var integer: Int32? { Int32(exactly: order) }

  /// Whether this is ".priority".
  public var isPriority: Bool { order == Self.priorityOrder && text == ".priority" }

  /// The order of ".priori", the first bytes of ".priority".
  private static let priorityOrder: Int64 = textOrder + 0x2E_7072_696F_7269

  private var isText: Bool { order >= Self.textOrder && order != .max }

  /// The string.
  public var description: String { text }

  /// Whether the bytes are equal.
  public static func == (left: DatabaseKey, right: DatabaseKey) -> Bool {
    guard left.order == right.order, left.text.utf8.count == right.text.utf8.count else { return false }
    return left.isWholeInOrder || left.text.hasSameBytes(as: right.text)
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(order)
    if isWholeInOrder { return }
    var copy = text
    // Unsafe pointer, used inside the closure only: it feeds the bytes without going one by one.
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Whether the order and the length say all of the string.
  private var isWholeInOrder: Bool { isText && text.utf8.count <= Self.orderedBytes }

  /// Whether the first key sorts first.
  public static func < (left: DatabaseKey, right: DatabaseKey) -> Bool {
    if left.order != right.order { return left.order < right.order }
    if left.isText { return left.text.isBelowByUTF16(right.text) }
    let leftLength = left.text.utf8.count, rightLength = right.text.utf8.count
    // The same number in the same length: "00" before "-0", as in the rows of the engine.
    return leftLength != rightLength ? leftLength < rightLength : right.text.isBelowByUTF16(left.text)
  }

  /// The first bytes of a string in the order of UTF-16, as a number.
  private static func firstBytes(of text: String) -> Int64 {
    var copy = text
    // Unsafe pointer, used inside the closure only: every key that is read passes here.
    return copy.withUTF8 { bytes in
      var number: Int64 = 0
      for index in 0..<orderedBytes {
        number = number << 8 | (index < bytes.count ? Int64(String.rank(bytes[index])) : 0)
      }
      return number
    }
  }

  /// Reads an optional sign and digits, eleven characters at most, in the range of 32 bits.
  private static func integer(_ text: String) -> Int32? {
    let bytes = text.utf8
    guard let first = bytes.first, first == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= first,
      bytes.count <= 11
    else { return nil }
    let digits = first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
    guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }) else { return nil }
    return Int32(text)
  }
}

extension String {
  /// Whether this string sorts before another by UTF-16 code units.
  ///
  /// UTF-8 bytes have that order, except that U+E000 to U+FFFF (lead bytes EE and EF) follow the code points above
  /// U+FFFF.
  func isBelowByUTF16(_ other: String) -> Bool {
    var (left, right) = (self, other)
    // Unsafe pointers, used inside the closures only: iterating over the bytes takes several times as long.
    return left.withUTF8 { left in
      right.withUTF8 { right in
        for index in 0..<Swift.min(left.count, right.count) where left[index] != right[index] {
          return Self.rank(left[index]) < Self.rank(right[index])
        }
        return left.count < right.count
      }
    }
  }

  /// Whether the UTF-8 bytes are equal, unlike the bytes of strings that only look alike.
  func hasSameBytes(as other: String) -> Bool {
    guard utf8.count == other.utf8.count, self == other else { return false }
    var (left, right) = (self, other)
    // Unsafe pointers, used inside the closures only, as above.
    return left.withUTF8 { left in right.withUTF8 { right in left.elementsEqual(right) } }
  }

  /// A byte by its place in the order.
  fileprivate static func rank(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte }
}
