/// A JSON value, and where each part of it is in the text.
///
/// The texts are security rules: JSON with comments, with line ends in strings, and with a comma after the
/// last member of an object.
///
/// ```swift
/// let text = #"{"rules": {".read": true, /* all */ "rooms": {".indexOn": "size"},}}"#
/// let rules = try PlacedJSON(text: Array(text.utf8))
/// ```
public indirect enum PlacedJSON: Sendable {
  /// An object with all its members in order, also those with a name that it has twice.
  case object([Member], at: Int)
  /// An array.
  case array([PlacedJSON], at: Int)
  /// A string, and for each of its UTF-8 bytes the byte of the text.
  case string([UInt8], places: [Int32], at: Int)
  /// A boolean.
  case bool(Bool, at: Int)
  /// A number or null.
  case other(JSONValue, at: Int)

  /// A member of an object.
  public struct Member: Sendable {
    /// The name.
    public let name: String
    /// The byte of the text at which the name begins.
    public let at: Int
    /// The value.
    public let value: PlacedJSON
  }

  /// A text that is no such JSON.
  public struct Failure: Error, Sendable {
    /// The first byte of the text that cannot be read; of a value with more than 100 levels the first byte of the next.
    public let at: Int
  }

  /// Reads a text.
  ///
  /// - Parameter text: The UTF-8 bytes of the text.
  public init(text: [UInt8]) throws(Failure) { self = try PlacedJSONReader.read(text) }

  /// The byte of the text at which the value begins.
  public var at: Int {
    switch self {
    case .object(_, let at), .array(_, let at), .string(_, _, let at), .bool(_, let at), .other(_, let at): at
    }
  }

  /// The value without its places; of members with one name the last one counts.
  public var value: JSONValue {
    switch self {
    case .object(let members, _):
      var object = JSONObject()
      for member in members { object[member.name] = member.value.value }
      return .object(object)
    case .array(let elements, _): return .array(elements.map(\.value))
    case .string(let bytes, _, _): return .string(String(decoding: bytes, as: UTF8.self))
    case .bool(let bool, _): return .bool(bool)
    case .other(let value, _): return value
    }
  }
}
