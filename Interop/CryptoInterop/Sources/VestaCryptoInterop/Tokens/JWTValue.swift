/// A value in the header or the claims of a token: JSON, with whole numbers kept exact.
///
/// Literals work: `["admin": true, "level": 3, "tags": ["a", "b"]]`.
public enum JWTValue: Sendable, Hashable {
  /// Nothing.
  case null
  /// True or false.
  case bool(Bool)
  /// A whole number that fits 64 bits.
  case integer(Int64)
  /// Any other number.
  case number(Double)
  /// Text.
  case string(String)
  /// A list.
  case array([JWTValue])
  /// Names and values, in order.
  case object(JWTObject)

  /// The text, where it is text.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The flag, where it is one.
  public var bool: Bool? { if case .bool(let flag) = self { flag } else { nil } }

  /// The number without its fraction, where it is a number that 64 bits can hold.
  public var integer: Int64? {
    switch self {
    case .integer(let number): number
    case .number(let number): Int64(exactly: number.rounded(.down))
    default: nil
    }
  }

  /// The list, where it is one.
  public var array: [JWTValue]? { if case .array(let list) = self { list } else { nil } }

  /// The names and values, where it has some.
  public var object: JWTObject? { if case .object(let object) = self { object } else { nil } }
}

/// Names and values in the order in which they were set; every name occurs once.
public struct JWTObject: Sendable, Hashable {
  /// A name and its value.
  public struct Member: Sendable, Hashable {
    /// The name.
    public let name: String
    /// The value.
    public var value: JWTValue
  }

  /// All names and values, in order.
  public private(set) var members: [Member]

  /// An object with nothing in it.
  public init() { members = [] }

  init(uniqueMembers: [Member]) { members = uniqueMembers }

  /// The value of a name; setting `nil` removes it, and a new name goes to the end.
  public subscript(name: String) -> JWTValue? {
    get { members.first { $0.name == name }?.value }
    set {
      let index = members.firstIndex { $0.name == name }
      switch (index, newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append(Member(name: name, value: value))
      case (nil, nil): break
      }
    }
  }
}

extension JWTObject: ExpressibleByDictionaryLiteral {
  /// An object of the given names and values; of a name that occurs twice the last value counts.
  public init(dictionaryLiteral elements: (String, JWTValue)...) {
    self.init()
    for (name, value) in elements { self[name] = value }
  }
}

extension JWTValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
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
  public init(arrayLiteral elements: JWTValue...) { self = .array(elements) }
  /// Names and values.
  public init(dictionaryLiteral elements: (String, JWTValue)...) {
    var object = JWTObject()
    for (name, value) in elements { object[name] = value }
    self = .object(object)
  }
}
