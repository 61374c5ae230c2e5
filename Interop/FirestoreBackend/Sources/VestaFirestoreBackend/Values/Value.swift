/// A value of a field.
///
/// Equality here is identity of the message: `1` and `1.0` differ, `0.0` and `-0.0` differ, every NaN equals every
/// other, and strings are equal when their UTF-8 bytes are. (Swift's `String` takes a composed and a decomposed "é" for
/// equal; Firestore does not.) How values are ordered, and which are equal in a query, is the engine's matter.
public enum Value: Sendable, Hashable {
  /// Null, which is not the absence of a value.
  case null
  /// A truth value.
  case boolean(Bool)
  /// A whole number.
  case integer(Int64)
  /// A floating-point number.
  case double(Double)
  /// A timestamp; stored to the microsecond.
  case timestamp(Timestamp)
  /// A string.
  case string(String)
  /// Bytes of any kind.
  case bytes([UInt8])
  /// The full resource name of a document, such as `projects/p/databases/(default)/documents/rooms/a`.
  case reference(String)
  /// A place on earth.
  case geoPoint(GeoPoint)
  /// Values in a row; none of them is an array itself.
  case array([Value])
  /// Values under names. A vector is a map too, see `vector(_:)`.
  case map(MapValue)

  /// Whether the two are the same message.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.double(let left), .double(let right)): canonicalBits(of: left) == canonicalBits(of: right)
    case (.timestamp(let left), .timestamp(let right)): left == right
    case (.string(let left), .string(let right)): UTF8Order.equal(left, right)
    case (.bytes(let left), .bytes(let right)): left == right
    case (.reference(let left), .reference(let right)): UTF8Order.equal(left, right)
    case (.geoPoint(let left), .geoPoint(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.map(let left), .map(let right)): left == right
    default: false
    }
  }

  /// Feeds the parts that equality compares to a hasher.
  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .boolean(let value): hasher.combine(value)
    case .integer(let value): hasher.combine(value)
    case .double(let value): hasher.combine(Value.canonicalBits(of: value))
    case .timestamp(let value): hasher.combine(value)
    case .string(let value), .reference(let value): UTF8Order.hash(value, into: &hasher)
    case .bytes(let value): hasher.combine(value)
    case .geoPoint(let value): hasher.combine(value)
    case .array(let value): hasher.combine(value)
    case .map(let value): hasher.combine(value)
    }
  }

  /// The bits of a number, the same for every NaN.
  static func canonicalBits(of value: Double) -> UInt64 {
    value.isNaN ? Double.nan.bitPattern : value.bitPattern
  }
}
