/// One value of a key, as `KeyEncoder` writes it and `KeyDecoder` reads it.
///
/// Values of different types are ordered by type: null, false, true, integers, doubles, strings, bytes. Within a type:
/// integers by value; doubles by value, with NaN below all others and `-0.0` equal to `0.0`; strings by their UTF-8
/// bytes; bytes as unsigned numbers, the shorter first. Equality is that of the encoding: two strings that only look
/// alike, because one has a composed character, differ.
public enum KeyElement: Sendable, Comparable, Hashable, CustomStringConvertible {
  /// No value; below all others.
  case null
  /// False, then true.
  case bool(Bool)
  /// A whole number.
  case int(Int64)
  /// A floating-point number; never equal to an `int`.
  case double(Double)
  /// A string.
  case string(String)
  /// Bytes of any kind.
  case bytes([UInt8])

  /// Whether the two are equal in a key.
  public static func == (left: KeyElement, right: KeyElement) -> Bool { left.compare(right) == 0 }

  /// Whether the first sorts before the second in a key with ascending direction.
  public static func < (left: KeyElement, right: KeyElement) -> Bool { left.compare(right) < 0 }

  /// Feeds the bytes that equality compares.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(rank)
    switch self {
    case .null: break
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(OrderedDouble.bits(of: value))
    case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
    case .bytes(let value): hasher.combine(value)
    }
  }

  /// The value as a literal; long strings and bytes are shortened.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .double(let value): "\(value)"
    case .string(let value): KeyPrinter.quoted(value)
    case .bytes(let value): KeyPrinter.hexadecimal(value)
    }
  }

  private var rank: Int {
    switch self {
    case .null: 0
    case .bool: 1
    case .int: 2
    case .double: 3
    case .string: 4
    case .bytes: 5
    }
  }

  private func compare(_ other: KeyElement) -> Int {
    switch (self, other) {
    case (.null, .null): 0
    case (.bool(let left), .bool(let right)): (left ? 1 : 0) - (right ? 1 : 0)
    case (.int(let left), .int(let right)): left < right ? -1 : left == right ? 0 : 1
    case (.double(let left), .double(let right)): KeyElement.compare(left, right)
    case (.string(let left), .string(let right)): KeyElement.compare(left.utf8, right.utf8)
    case (.bytes(let left), .bytes(let right)): KeyElement.compare(left, right)
    default: rank - other.rank
    }
  }

  private static func compare(_ left: Double, _ right: Double) -> Int {
    if left.isNaN || right.isNaN { return (left.isNaN ? 0 : 1) - (right.isNaN ? 0 : 1) }
    return left < right ? -1 : left == right ? 0 : 1
  }

  private static func compare(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
    if left.lexicographicallyPrecedes(right) { return -1 }
    return left.elementsEqual(right) ? 0 : 1
  }
}

/// The direction in which an element of a key is ordered.
public enum KeyDirection: Sendable, Hashable {
  /// Smaller values first.
  case ascending
  /// Larger values first.
  case descending
}
