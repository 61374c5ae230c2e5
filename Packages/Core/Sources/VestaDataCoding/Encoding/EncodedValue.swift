import Foundation

/// A part of the result while it is built.
///
/// Containers are objects, because a container that was handed out is filled while its parent is filled too.
enum EncodedValue {
  case null
  case boolean(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case double(Double)
  case string(String)
  /// A value that is put into the result as it is.
  case leaf(Any)
  case array(EncodedArray)
  case dictionary(EncodedDictionary)
  /// The place for the value of an encoder that was handed out, such as that of a superclass.
  case pending(EncodedSlot)

  /// The finished value.
  ///
  /// A place into which nothing was encoded is an empty dictionary.
  var value: Any {
    switch self {
    case .null: NSNull()
    case .boolean(let value): NSNumber(value: value)
    case .integer(let value): NSNumber(value: value)
    case .unsigned(let value): NSNumber(value: value)
    case .double(let value): NSNumber(value: value)
    case .string(let value): value
    case .leaf(let value): value
    case .array(let array): array.elements.map(\.value)
    case .dictionary(let dictionary): dictionary.members.mapValues(\.value)
    case .pending(let slot): slot.content?.value ?? [String: Any]()
    }
  }

  /// The finished value in a form of the caller's.
  func structure<Structure: EncodedStructure>(as type: Structure.Type) throws -> Structure {
    switch self {
    case .null: .null
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .unsigned(let value): .unsigned(value)
    case .double(let value): .double(value)
    case .string(let value): .string(value)
    case .leaf(let value): try .leaf(value)
    case .array(let array): .array(try array.elements.map { try $0.structure(as: type) })
    case .dictionary(let dictionary): .dictionary(try dictionary.members.mapValues { try $0.structure(as: type) })
    case .pending(let slot): try slot.content?.structure(as: type) ?? .dictionary([:])
    }
  }

  /// The value of one of the common scalar types; `nil` for a value of another type, and for a number that a strategy
  /// has to decide about.
  init?<T>(scalar value: T) {
    if T.self == String.self, let value = value as? String {
      self = .string(value)
    } else if T.self == Int.self, let value = value as? Int {
      self = .integer(Int64(value))
    } else if T.self == Double.self, let value = value as? Double, value.isFinite {
      self = .double(value)
    } else if T.self == Bool.self, let value = value as? Bool {
      self = .boolean(value)
    } else if T.self == Int64.self, let value = value as? Int64 {
      self = .integer(value)
    } else {
      return nil
    }
  }
}

/// A form into which an encoder builds its result, where that is not `Any`.
public protocol EncodedStructure {
  /// Nothing.
  static var null: Self { get }
  /// A boolean.
  static func boolean(_ value: Bool) -> Self
  /// An integer of any type.
  static func integer(_ value: Int64) -> Self
  /// An integer of an unsigned type.
  static func unsigned(_ value: UInt64) -> Self
  /// A floating-point number.
  static func double(_ value: Double) -> Self
  /// A string.
  static func string(_ value: String) -> Self
  /// A value that the passthrough resolver or a strategy has put into the result as it is.
  static func leaf(_ value: Any) throws -> Self
  /// An array.
  static func array(_ elements: [Self]) -> Self
  /// A dictionary.
  static func dictionary(_ members: [String: Self]) -> Self
}

final class EncodedArray {
  var elements: [EncodedValue] = []
}

final class EncodedDictionary {
  // Room for the members of most types, which would else be moved two or three times.
  var members: [String: EncodedValue] = Dictionary(minimumCapacity: 6)
}

/// A place for one value, and the first mistake made while it was filled.
final class EncodedSlot {
  var content: EncodedValue?
  /// Two kinds of container were asked for at one place; container calls cannot throw, so the error is thrown later.
  var failure: EncodingError?
}
