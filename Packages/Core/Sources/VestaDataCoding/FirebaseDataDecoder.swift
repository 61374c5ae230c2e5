public import Foundation

/// Decodes `Decodable` values from the loosely typed values of Firebase's APIs.
///
/// It reads what ``FirebaseDataEncoder`` writes, and the native Swift counterparts of it (`Int`, `Double`, `Bool`,
/// optionals in `Any`). Numbers are converted only where nothing is lost: 5.0 decodes as an `Int`, 5.5 and 300 as an
/// `Int8` do not, and a boolean is not a number.
///
/// Errors are `DecodingError`s, with the path to the value that did not fit. A decoder is configured once and
/// used from one thread at a time.
open class FirebaseDataDecoder {
  /// How dates are decoded.
  public enum DateDecodingStrategy {
    /// As `Date` decodes itself: from the seconds since 1 January 2001.
    case deferredToDate
    /// From the seconds since 1970.
    case secondsSince1970
    /// From the milliseconds since 1970.
    case millisecondsSince1970
    /// From a string in the format of RFC 3339.
    case iso8601
    /// From a string that the formatter reads.
    case formatted(DateFormatter)
    /// As the closure decodes it.
    case custom((_ decoder: any Swift.Decoder) throws -> Date)
  }

  /// How binary data is decoded.
  public enum DataDecodingStrategy {
    /// As `Data` decodes itself: from an array of bytes.
    case deferredToData
    /// From a string in Base64.
    case base64
    /// From a `Data` value.
    case blob
    /// As the closure decodes it.
    case custom((_ decoder: any Swift.Decoder) throws -> Data)
  }

  /// The decoding of infinite numbers and NaN.
  public enum NonConformingFloatDecodingStrategy {
    /// They are not decoded: a string in place of a number is an error.
    case `throw`
    /// From these strings.
    case convertFromString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// How the keys of dictionaries are turned into coding keys.
  public enum KeyDecodingStrategy {
    /// As they are.
    case useDefaultKeys
    /// `one_two_three` becomes `oneTwoThree`.
    case convertFromSnakeCase
    /// As the closure answers for the path to the key.
    case custom((_ codingPath: [any CodingKey]) -> any CodingKey)
  }

  /// How dates are decoded; `.deferredToDate` unless it was set.
  open var dateDecodingStrategy = DateDecodingStrategy.deferredToDate

  /// How binary data is decoded; `.base64` unless it was set.
  open var dataDecodingStrategy = DataDecodingStrategy.base64

  /// How non-finite numbers are decoded; `.throw` unless it was set.
  open var nonConformingFloatDecodingStrategy = NonConformingFloatDecodingStrategy.throw

  /// How keys are named; `.useDefaultKeys` unless it was set.
  open var keyDecodingStrategy = KeyDecodingStrategy.useDefaultKeys

  /// The types whose values are taken from the structure as they are.
  open var passthroughTypeResolver: any StructureCodingPassthroughTypeResolver.Type = NoPassthroughTypes.self

  /// Information for the types that are decoded.
  open var userInfo: [CodingUserInfoKey: Any] = [:]

  /// Creates a decoder with the default strategies.
  public init() {}

  /// Decodes a value.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - structure: The source; a scalar is possible too.
  /// - Returns: The value.
  /// - Throws: `DecodingError` with the path to what does not fit, or what the type's own `init(from:)` throws.
  open func decode<T: Decodable>(_ type: T.Type, from structure: Any) throws -> T {
    try prepared().decode(type, from: .any(structure))
  }

  /// The decoder with its strategies as they are now, for many values.
  ///
  /// - Parameter key: The key under which types find the object that is noted with a value; see
  ///   ``PreparedDecoder/decode(_:from:noting:)``.
  public func prepared(noting key: CodingUserInfoKey? = nil) -> PreparedDecoder {
    PreparedDecoder(
      DecodingOptions(
        dates: dateDecodingStrategy, data: dataDecodingStrategy, floats: nonConformingFloatDecodingStrategy,
        keys: keyDecodingStrategy, passthrough: passthroughTypeResolver, userInfo: userInfo, noted: key))
  }
}
