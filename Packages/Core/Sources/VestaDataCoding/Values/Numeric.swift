public import Foundation

/// A number of a loosely typed value, classified by what it can represent.
///
/// `NSNumber` and the native numbers of Swift are the same thing to `as? NSNumber`; they are distinguished
/// here: a boolean is not a number, and an integer is exact.
public enum Numeric: Equatable, Sendable {
  /// A boolean.
  case boolean(Bool)
  /// An integer.
  case integer(Int64)
  /// An integer above the range of `Int64`.
  case unsigned(UInt64)
  /// A floating-point number.
  case double(Double)

  /// The number in a loosely typed value; `nil` when it is none.
  ///
  /// - Parameter value: Any value.
  public init?(_ value: Any) {
    if let native = Numeric(native: value) {
      self = native
    } else {
      guard let number = value as? NSNumber else { return nil }
      self.init(number)
    }
  }

  /// The number in a value of one of Swift's common types, or in a plain `NSNumber`; `nil` for a value of another type.
  ///
  /// Asking for the exact type takes a tenth of the time that bridging to an object takes.
  init?(native value: Any) {
    let type = type(of: value)
    if type == Int.self, let value = value as? Int {
      self = .integer(Int64(value))
    } else if type == Double.self, let value = value as? Double {
      self = .double(value)
    } else if type == Bool.self, let value = value as? Bool {
      self = .boolean(value)
    } else if type == Int64.self, let value = value as? Int64 {
      self = .integer(value)
    } else if isNumberObject(type), let value = value as? NSNumber {
      self.init(plain: value)
    } else {
      return nil
    }
  }

  /// The kind of an `NSNumber`.
  ///
  /// - Parameter number: The number.
  public init(_ number: NSNumber) {
    if number is NSDecimalNumber { self.init(decimal: number) } else { self.init(plain: number) }
  }

  /// The kind of an `NSNumber` that is no decimal number.
  private init(plain number: NSNumber) {
    if number === Self.true || number === Self.false {
      self = .boolean(number.boolValue)
      return
    }
    switch number.objCType.pointee {
    case CChar(bitPattern: UInt8(ascii: "d")), CChar(bitPattern: UInt8(ascii: "f")):
      self = .double(number.doubleValue)
    case CChar(bitPattern: UInt8(ascii: "Q")) where number.uint64Value > UInt64(Int64.max):
      self = .unsigned(number.uint64Value)
    default: self = .integer(number.int64Value)
    }
  }

  private init(decimal number: NSNumber) {
    if let integer = Int64(number.stringValue) {
      self = .integer(integer)
    } else if let unsigned = UInt64(number.stringValue) {
      self = .unsigned(unsigned)
    } else {
      self = .double(number.doubleValue)
    }
  }

  // There is one object for each boolean, which is how a boolean is distinguished from the numbers 0 and 1.
  private static let `true` = NSNumber(value: true)
  private static let `false` = NSNumber(value: false)

  /// The number as an integer of some size; `nil` when a part of it would be lost, and for booleans.
  ///
  /// - Parameter type: The type of the result.
  public func exact<I: FixedWidthInteger>(_ type: I.Type = I.self) -> I? {
    switch self {
    case .boolean: nil
    case .integer(let value): I(exactly: value)
    case .unsigned(let value): I(exactly: value)
    case .double(let value): I(exactly: value)
    }
  }

  /// The number as a floating-point number, rounded if it must be; `nil` for booleans.
  public var doubleValue: Double? {
    switch self {
    case .boolean: nil
    case .integer(let value): Double(value)
    case .unsigned(let value): Double(value)
    case .double(let value): value
    }
  }
}
