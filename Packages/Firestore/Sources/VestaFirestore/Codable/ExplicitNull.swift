/// Stores `nil` as null, where an optional property leaves the field out.
///
/// ```swift
/// struct Room: Codable { @ExplicitNull var guest: String? }   // {guest: null} without a guest
/// ```
@propertyWrapper
public struct ExplicitNull<Value> {
  private var value: Value?

  /// Wraps a value or nothing.
  public init(wrappedValue value: Value?) { self.value = value }

  /// The value; `nil` is stored as null.
  public var wrappedValue: Value? {
    get { value }
    set { value = newValue }
  }
}

/// Null decodes to the wrapper of `nil`.
extension ExplicitNull: ExpressibleByNilLiteral {
  /// The wrapper of `nil`.
  public init(nilLiteral: ()) { value = nil }
}

extension ExplicitNull: Equatable where Value: Equatable {}
extension ExplicitNull: Hashable where Value: Hashable {}
extension ExplicitNull: Sendable where Value: Sendable {}

extension ExplicitNull: Encodable where Value: Encodable {
  /// Writes the value, or null.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    if let value { try container.encode(value) } else { try container.encodeNil() }
  }
}

extension ExplicitNull: Decodable where Value: Decodable {
  /// Reads the value; null is `nil`.
  ///
  /// A missing field is an error.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    value = container.decodeNil() ? nil : try container.decode(Value.self)
  }
}
