/// A JSON value; integers of 64 bits are kept exact.
///
/// Literals work: `["admin": true, "level": 3, "tags": ["a", "b"]]`.
public enum JSONValue: Sendable, Hashable {
  /// Null.
  case null
  /// True or false.
  case bool(Bool)
  /// An integer that fits 64 bits, written without a fraction or an exponent.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object, with its members in order.
  case object(JSONObject)

  /// The string; `nil` for another kind of value.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The boolean; `nil` for another kind of value.
  public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

  /// The number rounded down; `nil` for another kind of value, and for one beyond 64 bits.
  public var integer: Int64? {
    switch self {
    case .integer(let number): return number
    case .number(let number):
      // Without the library's `floor`, which a program that has this module and no Foundation is not linked with.
      guard number >= -0x1p63, number < 0x1p63 else { return nil }
      let whole = Int64(number)
      return Double(whole) > number ? whole - 1 : whole
    default: return nil
    }
  }

  /// The number as a double; `nil` for another kind of value.
  public var double: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .number(let number): number
    default: nil
    }
  }

  /// Whether the value is null.
  public var isNull: Bool { if case .null = self { true } else { false } }

  /// The array; `nil` for another kind of value.
  public var array: [JSONValue]? { if case .array(let list) = self { list } else { nil } }

  /// The object; `nil` for another kind of value.
  public var object: JSONObject? { if case .object(let object) = self { object } else { nil } }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  /// An object of the given names and values; of a name that occurs twice the last value counts.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    self.init()
    for (name, value) in elements { self[name] = value }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  /// Nothing.
  public init(nilLiteral: ()) { self = .null }
  /// A flag.
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// Text.
  public init(stringLiteral value: String) { self = .string(value) }
  /// A list.
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  /// Names and values.
  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    var object = JSONObject()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }
}
