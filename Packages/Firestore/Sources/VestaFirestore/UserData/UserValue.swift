internal import Foundation
internal import VestaDataCoding
internal import VestaFirestoreBackend

/// A value of an application before it is checked: the common form of `[String: Any]` and `Encodable` data.
indirect enum UserValue: Sendable, Hashable {
  /// A value that needs no further check.
  case value(Value)
  /// A field value that the database computes.
  case sentinel(FieldValue)
  /// A reference to a document, checked against the database when it is written.
  case reference(DocumentReference)
  case array([UserValue])
  /// A map; of several entries with one name the last one counts.
  case map([UserEntry])
  /// Something that Firestore does not store: the message of the error.
  case refused(String, remedy: String = "")
}

/// One entry of a map.
struct UserEntry: Sendable, Hashable {
  let name: String
  let value: UserValue
}

extension UserValue {
  /// A value as applications hold it: Swift's and Foundation's types, or Firestore's own.
  ///
  /// Swift's number types keep their kind. An `NSNumber` is a boolean if it was made of one, else an integer or a
  /// double; with Apple's Foundation also if it was made of an 8-bit integer, as in the Firebase SDK.
  init(any: Any) {
    if let known = UserValue.common(any) ?? UserValue.firestore(any) ?? UserValue.swift(any) {
      self = known
    } else if let known = UserValue.foundation(any) {
      self = known
    } else if let optional = any as? any OptionalValue {
      self = optional.anyValue.map(UserValue.init(any:)) ?? .value(.null)
    } else {
      self = .refused(
        "Unsupported type: \(type(of: any))",
        remedy: ". Write a dictionary of values that Firestore has, or pass a Codable value to setData(from:).")
    }
  }

  /// The entries of a dictionary, in an order that does not change from run to run.
  static func entries(of fields: [String: Any]) -> [UserEntry] {
    fields.sorted { $0.key < $1.key }.map { UserEntry(name: $0.key, value: UserValue(any: $0.value)) }
  }

  /// A value of one of the most common types: a comparison of types takes a tenth of the time of a cast.
  private static func common(_ any: Any) -> UserValue? {
    let type = type(of: any)
    if type == String.self { return (any as? String).map { .value(.string($0)) } }
    if type == Int.self { return (any as? Int).map { .value(.integer(Int64($0))) } }
    if type == Double.self { return (any as? Double).map { .value(.double($0)) } }
    if type == Bool.self { return (any as? Bool).map { .value(.boolean($0)) } }
    if type == [String: Any].self { return (any as? [String: Any]).map { .map(entries(of: $0)) } }
    return nil
  }

  private static func firestore(_ any: Any) -> UserValue? {
    switch any {
    case let value as Timestamp: .value(.timestamp(value.wire))
    case let value as GeoPoint: .value(.geoPoint(value.wire))
    case let value as VectorValue: .value(value.wire)
    case let value as FieldValue: .sentinel(value)
    case let value as DocumentReference: .reference(value)
    default: nil
    }
  }

  /// Values of Swift's own types.
  ///
  /// The types are compared, as a cast to a number type would take an `NSNumber` as well.
  private static func swift(_ any: Any) -> UserValue? {
    switch type(of: any) {
    case is String.Type: (any as? String).map { .value(.string($0)) }
    case is Bool.Type: (any as? Bool).map { .value(.boolean($0)) }
    case is Double.Type: (any as? Double).map { .value(.double($0)) }
    case is Float.Type: (any as? Float).map { .value(.double(Double($0))) }
    case let type as any BinaryInteger.Type: integer(any, as: type)
    case is [String: Any].Type: (any as? [String: Any]).map { .map(entries(of: $0)) }
    case is [Any].Type: (any as? [Any]).map { .array($0.map(UserValue.init(any:))) }
    default: nil
    }
  }

  private static func integer<Number: BinaryInteger>(_ any: Any, as type: Number.Type) -> UserValue? {
    guard let number = any as? Number else { return nil }
    return Int64(exactly: number).map { .value(.integer($0)) } ?? .refused("NSNumber (\(number)) is too large")
  }

  /// Values of Foundation's types, and containers of one type of elements.
  ///
  /// Containers are tried before the classes, as on Linux a cast of an array or dictionary to a class makes an object
  /// of each of its elements.
  private static func foundation(_ any: Any) -> UserValue? {
    if type(of: any) == NSNull.self { return .value(.null) }
    return switch any {
    case let value as Date: .value(.timestamp(Timestamp(date: value).wire))
    case let value as Data: .value(.bytes([UInt8](value)))
    case let value as [String: Any]: .map(entries(of: value))
    case let value as [Any]: .array(value.map(UserValue.init(any:)))
    case let value as NSNumber: number(value)
    case let value as String: .value(.string(value))
    default: nil
    }
  }

  private static func number(_ number: NSNumber) -> UserValue {
    switch UInt8(bitPattern: number.objCType.pointee) {
    case UInt8(ascii: "c"), UInt8(ascii: "B"): .value(.boolean(number.boolValue))
    case UInt8(ascii: "f"), UInt8(ascii: "d"): .value(.double(number.doubleValue))
    case UInt8(ascii: "Q") where number.uint64Value > UInt64(Int64.max):
      .refused("NSNumber (\(number)) is too large")
    default: .value(.integer(number.int64Value))
    }
  }
}

/// An encoder makes these values directly, and no dictionary of `Any` first.
extension UserValue: EncodedStructure {
  static var null: UserValue { .value(.null) }
  static func boolean(_ value: Bool) -> UserValue { .value(.boolean(value)) }
  static func integer(_ value: Int64) -> UserValue { .value(.integer(value)) }
  static func double(_ value: Double) -> UserValue { .value(.double(value)) }
  static func string(_ value: String) -> UserValue { .value(.string(value)) }
  static func leaf(_ value: Any) -> UserValue { UserValue(any: value) }

  static func unsigned(_ value: UInt64) -> UserValue {
    Int64(exactly: value).map(integer) ?? .refused("NSNumber (\(value)) is too large")
  }

  static func dictionary(_ members: [String: UserValue]) -> UserValue {
    .map(members.sorted { $0.key < $1.key }.map { UserEntry(name: $0.key, value: $0.value) })
  }
}

/// Optionals within `Any`, which a cast cannot take apart.
private protocol OptionalValue {
  var anyValue: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var anyValue: Any? { self }
}
