public import Foundation

/// A value and its source.
public final class RemoteConfigValue: NSObject, NSCopying, Sendable {
  /// The bytes of the value.
  public let dataValue: Data

  /// The source of the value.
  public let source: RemoteConfigSource

  init(_ data: Data, source: RemoteConfigSource) {
    dataValue = data
    self.source = source
  }

  /// The empty value.
  static let empty = RemoteConfigValue(Data(), source: .static)

  /// The value as a string; empty when it is not UTF-8.
  public var stringValue: String { String(data: dataValue, encoding: .utf8) ?? "" }

  /// The number at the beginning of the string; 0 when there is none.
  public var numberValue: NSNumber { NSNumber(value: ValueConversion.number(stringValue)) }

  /// The value as a boolean: true for a string that begins with `Y`, `y`, `T`, `t` or a digit other than zero, after
  /// white space, a sign and zeros.
  public var boolValue: Bool { ValueConversion.boolean(stringValue) }

  /// The array or dictionary that the string is in JSON; `nil` for anything else.
  public var jsonValue: Any? { try? JSONSerialization.jsonObject(with: dataValue) }

  /// The value itself: it cannot be changed.
  public func copy(with zone: NSZone? = nil) -> Any { self }

  /// Whether another value has the same bytes and source.
  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? RemoteConfigValue else { return false }
    return dataValue == other.dataValue && source == other.source
  }

  /// Equal for equal values.
  public override var hash: Int { dataValue.hashValue }

  /// The string.
  public override var description: String { "<RemoteConfigValue: \(stringValue) (\(source))>" }
}
