/// A key of the tree: one name between two slashes of a path.
///
/// Keys are equal when their UTF-8 bytes are. Their order is Firebase's: keys that read as 32-bit integers come first,
/// by number and then by length ("1" before "01"); the others follow by UTF-16 code units.
public struct DatabaseKey: Hashable, Comparable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
  /// The key as text.
  public let text: String

  /// The integer, or a place above or below all integers.
  private let order: Int64

  private static let textOrder = Int64.max - 1

  /// The key below all others.
  public static let minimum = DatabaseKey("[MIN_NAME]", order: .min)

  /// The key above all others.
  public static let maximum = DatabaseKey("[MAX_NAME]", order: .max)

  /// The key under which a node's priority is addressed.
  public static let priority = DatabaseKey(".priority")

  /// A key from its text, which is not validated here.
  public init(_ text: String) {
    self.text = text
    order = Self.integer(text).map(Int64.init) ?? Self.textOrder
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
  public var isPriority: Bool { text == ".priority" }

  /// The text.
  public var description: String { text }

  /// Whether the bytes are equal.
  public static func == (left: DatabaseKey, right: DatabaseKey) -> Bool {
    left.order == right.order && left.text.utf8.elementsEqual(right.text.utf8)
  }

  /// Feeds what equality depends on.
  public func hash(into hasher: inout Hasher) {
    var copy = text
    // Unsafe pointer, used inside the closure only: it feeds the bytes without going one by one.
    copy.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  /// Whether the first key comes first.
  public static func < (left: DatabaseKey, right: DatabaseKey) -> Bool {
    if left.order != right.order { return left.order < right.order }
    if left.order == textOrder { return left.text.isBelowByUTF16(right.text) }
    let leftLength = left.text.utf8.count, rightLength = right.text.utf8.count
    return leftLength != rightLength ? leftLength < rightLength : left.text.isBelowByUTF16(right.text)
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
  /// Whether this text comes before another by UTF-16 code units.
  ///
  /// UTF-8 bytes have that order, except that U+E000 to U+FFFF (lead bytes EE and EF) follow the code points above
  /// U+FFFF.
  func isBelowByUTF16(_ other: String) -> Bool {
    var left = utf8.makeIterator(), right = other.utf8.makeIterator()
    while true {
      switch (left.next(), right.next()) {
      case (let first?, let second?):
        if first != second { return Self.rank(first) < Self.rank(second) }
      case (nil, .some): return true
      case (_, nil): return false
      }
    }
  }

  private static func rank(_ byte: UInt8) -> UInt8 { byte == 0xEE || byte == 0xEF ? byte + 0x10 : byte }
}
