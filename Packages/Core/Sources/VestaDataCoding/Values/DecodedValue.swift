/// A value that a decoder reads in a form of the caller's, where that is not `Any`.
///
/// Numbers and strings are taken as they are, and of a map nothing is made but what the decoded type asks for.
public enum DecodedValue {
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int64)
  /// A floating-point number.
  case double(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([DecodedValue])
  /// A map.
  case map(any DecodedMap)
  /// Any other value: null, an optional, a value that is passed through, and all that ``FirebaseDataDecoder`` reads.
  case any(Any)

  /// The value as it is in a loosely typed structure.
  var loose: Any {
    switch self {
    case .boolean(let value): value
    case .integer(let value): Int(exactly: value) ?? value as Any
    case .double(let value): value
    case .string(let value): value
    case .array(let elements): elements.map(\.loose)
    case .map(let map): map.dictionary
    case .any(let value): value
    }
  }

  /// A string that is one without a conversion.
  var string: String? {
    switch self {
    case .string(let value): value
    case .any(let value): type(of: value) == String.self ? value as? String : nil
    default: nil
    }
  }

  /// A number or boolean that is one without a conversion.
  var number: Numeric? {
    switch self {
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .double(let value): .double(value)
    case .any(let value): Numeric(native: value)
    default: nil
    }
  }

  /// Whether it is `NSNull` or an empty optional.
  var isNull: Bool {
    if case .any(let value) = self { presentValue(value) == nil } else { false }
  }
}

/// A map that a decoder reads where it is, so that no dictionary is made of it.
public protocol DecodedMap: AnyObject {
  /// All members, loosely typed.
  var dictionary: [String: Any] { get }
  /// The names of the members.
  var names: [String] { get }
  /// Whether there is a member, null or not.
  func contains(_ name: String) -> Bool
  /// A member; `nil` where there is none.
  func member(_ name: String) throws -> DecodedValue?
}
