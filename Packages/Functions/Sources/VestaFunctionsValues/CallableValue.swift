import Foundation
package import VestaBytes
import VestaDataCoding

/// The values of callable functions: between loosely typed values of Swift and the wire's JSON; pure.
///
/// JSON numbers lose the low bits of large integers in some clients, so integers of 64 bits travel as objects:
/// `{"@type": "type.googleapis.com/google.protobuf.Int64Value", "value": "123"}`. Smaller integers, floating-point
/// numbers and booleans are plain.
///
/// | Swift | wire |
/// |---|---|
/// | `nil`, `NSNull` | `null` |
/// | `Bool`, `Int8`…`Int32`, `UInt8`…`UInt32`, `Float`, `Double` | plain |
/// | `Int`, `Int64` | `Int64Value` |
/// | `UInt`, `UInt64` | `UInt64Value` |
/// | `String`, arrays, dictionaries with string keys | string, array, object |
package enum CallableValue {
  package static let int64Type = "type.googleapis.com/google.protobuf.Int64Value"
  package static let uint64Type = "type.googleapis.com/google.protobuf.UInt64Value"

  /// The depth to which values may be nested.
  package static let maximumDepth = 200

  /// The reason why a value cannot travel.
  package enum Failure: Error, Equatable, CustomStringConvertible {
    /// There is no wire form for the type.
    case unsupportedType(String)
    /// A wrapped integer is none.
    case failedToParseWrappedNumber(String)
    /// A floating-point number is infinite or not a number.
    case notFinite
    /// Values are nested too deeply.
    case tooDeep

    package var description: String {
      switch self {
      case .unsupportedType(let type):
        """
        A value of the type \(type) cannot be passed to or returned from a function. \
        Use nil, numbers, strings, arrays and dictionaries, or a Codable type.
        """
      case .failedToParseWrappedNumber(let text): "\"\(text)\" is not an integer of 64 bits."
      case .notFinite:
        "Infinity and NaN cannot be passed to or returned from a function. Use nil, or a string instead."
      case .tooDeep: "The value is nested deeper than \(CallableValue.maximumDepth) levels."
      }
    }
  }

  // MARK: Encoding

  /// The wire's form of a loosely typed value.
  package static func encode(_ value: Any?) throws(Failure) -> JSONValue { try encode(value, depth: 0) }

  private static func encode(_ value: Any?, depth: Int) throws(Failure) -> JSONValue {
    guard let value else { return .null }
    guard depth < maximumDepth else { throw .tooDeep }
    if let plain = try native(value) { return plain }
    // Asking a number whether it is a dictionary takes long, and asking an array whether it is a number bridges it.
    if type(of: value) is AnyClass, let number = value as? NSNumber { return try foundation(number) }
    // On Linux, asking a container for its class copies all of it into objects.
    if type(of: value) is NSNull.Type { return .null }
    switch value {
    case let value as String: return .string(value)
    case let value as [String: Any]: return try encode(object: value, depth)
    case let value as [Any]: return try encode(array: value, depth)
    case let value as JSONValue: return value
    default: break
    }
    if let optional = value as? any OptionalValue { return try encode(optional.wrappedValue, depth: depth) }
    if !(value is any Sequence), let number = value as? NSNumber { return try foundation(number) }
    throw .unsupportedType("\(type(of: value))")
  }

  private static func encode(object: [String: Any], _ depth: Int) throws(Failure) -> JSONValue {
    var members = JSONObject()
    for (name, value) in object { members[name] = try encode(value, depth: depth + 1) }
    return .object(members)
  }

  private static func encode(array: [Any], _ depth: Int) throws(Failure) -> JSONValue {
    var elements: [JSONValue] = []
    elements.reserveCapacity(array.count)
    for value in array { elements.append(try encode(value, depth: depth + 1)) }
    return .array(elements)
  }

  /// A value of one of Swift's own types; a cast would take a Foundation number for several of them.
  private static func native(_ value: Any) throws(Failure) -> JSONValue? {
    switch ObjectIdentifier(type(of: value)) {
    case ObjectIdentifier(String.self): return (value as? String).map { .string($0) }
    case ObjectIdentifier(Bool.self): return (value as? Bool).map { .bool($0) }
    case ObjectIdentifier(Int.self): return (value as? Int).map { wrapped(Int64($0)) }
    case ObjectIdentifier(Int64.self): return (value as? Int64).map { wrapped($0) }
    case ObjectIdentifier(UInt.self): return (value as? UInt).map { wrapped(UInt64($0)) }
    case ObjectIdentifier(UInt64.self): return (value as? UInt64).map { wrapped($0) }
    case ObjectIdentifier(Double.self): return try finite(value as? Double)
    case ObjectIdentifier(Float.self): return try finite((value as? Float).map(Double.init))
    case ObjectIdentifier(Int32.self): return (value as? Int32).map { .integer(Int64($0)) }
    case ObjectIdentifier(Int16.self): return (value as? Int16).map { .integer(Int64($0)) }
    case ObjectIdentifier(Int8.self): return (value as? Int8).map { .integer(Int64($0)) }
    case ObjectIdentifier(UInt32.self): return (value as? UInt32).map { .integer(Int64($0)) }
    case ObjectIdentifier(UInt16.self): return (value as? UInt16).map { .integer(Int64($0)) }
    case ObjectIdentifier(UInt8.self): return (value as? UInt8).map { .integer(Int64($0)) }
    default: return nil
    }
  }

  private static func finite(_ value: Double?) throws(Failure) -> JSONValue? {
    guard let value else { return nil }
    guard value.isFinite else { throw .notFinite }
    return .number(value)
  }

  /// A number of Foundation, by the type that it was made of as far as that is known.
  private static func foundation(_ number: NSNumber) throws(Failure) -> JSONValue {
    switch Numeric(number) {
    case .boolean(let value): return .bool(value)
    case .double(let value):
      guard value.isFinite else { throw .notFinite }
      return .number(value)
    case .unsigned(let value): return wrapped(value)
    case .integer(let value): return isNarrow(number) ? .integer(value) : wrapped(value)
    }
  }

  package static func wrapped(_ value: Int64) -> JSONValue { wrapped(int64Type, "\(value)") }
  package static func wrapped(_ value: UInt64) -> JSONValue { wrapped(uint64Type, "\(value)") }

  private static func wrapped(_ type: String, _ value: String) -> JSONValue {
    .object(["@type": .string(type), "value": .string(value)])
  }

  // MARK: Checking

  /// Checks that a value can be decoded.
  package static func check(_ value: JSONValue) throws(Failure) { try check(value, depth: 0) }

  private static func check(_ value: JSONValue, depth: Int) throws(Failure) {
    guard depth < maximumDepth else { throw .tooDeep }
    switch value {
    case .null, .bool, .integer, .string: break
    case .number(let number): guard number.isFinite else { throw .notFinite }
    case .array(let elements): for element in elements { try check(element, depth: depth + 1) }
    case .object(let object):
      guard try integer(in: object) == nil else { return }
      for member in object.members { try check(member.value, depth: depth + 1) }
    }
  }

  // MARK: Decoding

  /// The loosely typed value of the wire's form: `NSNull`, numbers, `String`, `[Any]` and `[String: Any]`.
  ///
  /// An object with another `@type` stays an object.
  ///
  /// - Parameters:
  ///   - value: The wire's form.
  ///   - numbers: The form of numbers and booleans.
  package static func decode(_ value: JSONValue, numbers: Numbers = .swift) throws(Failure) -> Any {
    try decode(value, numbers, depth: 0)
  }

  /// The form of decoded numbers and booleans.
  package enum Numbers: Sendable {
    /// `Bool`, `Int`, `UInt` and `Double`, for decoders.
    case swift
    /// `NSNumber`, for programs: they cast it to whatever type of number they want, as they do with Firebase's SDK.
    case foundation

    fileprivate func bool(_ value: Bool) -> Any { self == .swift ? value : NSNumber(value: value) }
    fileprivate func double(_ value: Double) -> Any { self == .swift ? value : NSNumber(value: value) }
    fileprivate func unsigned(_ value: UInt64) -> Any { self == .swift ? UInt(value) : NSNumber(value: value) }
    fileprivate func wide(_ value: Int64) -> Any { self == .swift ? Int(value) : NSNumber(value: value) }

    /// A plain integer of the wire, which stays one when it is sent back.
    fileprivate func plain(_ value: Int64) -> Any {
      guard self == .foundation, let narrow = Int32(exactly: value) else { return wide(value) }
      return NSNumber(value: narrow)
    }
  }

  private static func decode(_ value: JSONValue, _ numbers: Numbers, depth: Int) throws(Failure) -> Any {
    guard depth < maximumDepth else { throw .tooDeep }
    switch value {
    case .null: return NSNull()
    case .bool(let value): return numbers.bool(value)
    case .integer(let value): return numbers.plain(value)
    case .number(let value): return numbers.double(value)
    case .string(let value): return value
    case .array(let elements):
      var decoded: [Any] = []
      decoded.reserveCapacity(elements.count)
      for element in elements { decoded.append(try decode(element, numbers, depth: depth + 1)) }
      return decoded
    case .object(let object): return try decode(object: object, numbers, depth)
    }
  }

  private static func decode(object: JSONObject, _ numbers: Numbers, _ depth: Int) throws(Failure) -> Any {
    switch try integer(in: object) {
    case .signed(let value)?: return numbers.wide(value)
    case .unsigned(let value)?: return numbers.unsigned(value)
    case nil: break
    }
    var decoded: [String: Any] = [:]
    decoded.reserveCapacity(object.count)
    for member in object.members { decoded[member.name] = try decode(member.value, numbers, depth: depth + 1) }
    return decoded
  }
}

extension CallableValue {
  private enum WideInteger {
    case signed(Int64)
    case unsigned(UInt64)
  }

  /// The integer of 64 bits that an object encodes; `nil` for another object.
  private static func integer(in object: JSONObject) throws(Failure) -> WideInteger? {
    guard let type = object["@type"]?.string, let text = object["value"]?.string else { return nil }
    if type == int64Type {
      guard let value = Int64(text) else { throw .failedToParseWrappedNumber(text) }
      return .signed(value)
    }
    if type == uint64Type {
      guard let value = UInt64(text) else { throw .failedToParseWrappedNumber(text) }
      return .unsigned(value)
    }
    return nil
  }
}

/// An optional in an `Any`.
private protocol OptionalValue {
  var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
  var wrappedValue: Any? { map { $0 } }
}
