public import Foundation

/// A type that ``ServerTimestamp`` can hold.
public protocol ServerTimestampWrappable {
  /// The value for a timestamp that was read.
  static func wrap(_ timestamp: Timestamp) throws -> Self

  /// The timestamp for a value that is written.
  static func unwrap(_ value: Self) throws -> Timestamp
}

extension Date: ServerTimestampWrappable {
  /// The date of a timestamp.
  public static func wrap(_ timestamp: Timestamp) throws -> Date { timestamp.dateValue() }

  /// The timestamp of a date.
  public static func unwrap(_ value: Date) throws -> Timestamp { Timestamp(date: value) }
}

extension Timestamp: ServerTimestampWrappable {
  /// The timestamp itself.
  public static func wrap(_ timestamp: Timestamp) throws -> Self {
    guard let result = timestamp as? Self else {
      throw FirestoreDecodingError.decodingIsNotSupported("Timestamp has no subclass \(Self.self)")
    }
    return result
  }

  /// The timestamp itself.
  public static func unwrap(_ value: Timestamp) throws -> Timestamp { value }
}

/// A timestamp that the backend sets when the property is `nil` on writing.
///
/// ```swift
/// struct Message: Codable {
///   var text: String
///   @ServerTimestamp var sent: Date?
/// }
/// ```
@propertyWrapper
public struct ServerTimestamp<Value>: Codable where Value: ServerTimestampWrappable & Codable {
  private var value: Value?

  /// Wraps a time, or `nil` for the time of the commit.
  public init(wrappedValue value: Value?) { self.value = value }

  /// The time; `nil` becomes the time of the commit, and is read until the backend has set it.
  public var wrappedValue: Value? {
    get { value }
    set { value = newValue }
  }

  /// Reads a timestamp; null is `nil`.
  ///
  /// A missing field is an error.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    value = container.decodeNil() ? nil : try Value.wrap(try container.decode(Timestamp.self))
  }

  /// Writes the timestamp, or the sentinel for the time of the commit.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value {
      try container.encode(Value.unwrap(value))
    } else {
      try container.encode(FieldValue.serverTimestamp())
    }
  }
}

/// Null decodes to the wrapper of `nil`.
extension ServerTimestamp: ExpressibleByNilLiteral {
  /// The wrapper of `nil`.
  public init(nilLiteral: ()) { value = nil }
}

extension ServerTimestamp: Equatable where Value: Equatable {}
extension ServerTimestamp: Hashable where Value: Hashable {}
extension ServerTimestamp: Sendable where Value: Sendable {}
