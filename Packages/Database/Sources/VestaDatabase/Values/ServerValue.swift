public import Foundation

/// Values that the service fills in when it applies a write.
public final class ServerValue {
  private init() {}

  /// The time of the service, in milliseconds since 1970.
  public class func timestamp() -> [AnyHashable: Any] { [".sv": "timestamp"] }

  /// The number before the write plus another; that one alone where there was no number.
  public class func increment(_ delta: NSNumber) -> [AnyHashable: Any] { [".sv": ["increment": delta]] }
}

/// A date that the service sets when it is written as `nil`.
@propertyWrapper
public struct ServerTimestamp: Codable, Equatable, Hashable, Sendable {
  private var value: Date?

  /// A date; `nil` to have the service set it.
  public init(wrappedValue value: Date?) { self.value = value }

  /// The date.
  public var wrappedValue: Date? {
    get { value }
    set { value = newValue }
  }

  /// Reads milliseconds since 1970.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    value = container.decodeNil() ? nil : Date(timeIntervalSince1970: Double(try container.decode(Int.self)) / 1000)
  }

  /// Writes milliseconds since 1970, or the placeholder for the time of the service.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value {
      try container.encode(Int(value.timeIntervalSince1970 * 1000))
    } else {
      try container.encode([".sv": "timestamp"])
    }
  }
}
