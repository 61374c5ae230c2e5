public import Foundation

/// Encodes `Encodable` values as the loosely typed values that Firebase's APIs take.
///
/// The result consists of `NSNumber`, `String`, `NSNull`, `[Any]` and `[String: Any]`, and of the leaf values that
/// ``passthroughTypeResolver`` names. Integers stay exact over the whole range of `Int64` and `UInt64`.
///
/// ```swift
/// struct City: Codable { var name: String, population: Int }
/// let value = try FirebaseDataEncoder().encode(City(name: "Lyon", population: 522_250))
/// // ["name": "Lyon", "population": 522250] as [String: Any]
/// ```
///
/// The rules follow Foundation's `JSONEncoder`: a nested value that encodes nothing is an empty dictionary, a
/// top-level value that encodes nothing is an error, and the keys of dictionaries are not renamed by
/// ``keyEncodingStrategy``. An encoder is configured once and used from one thread at a time.
open class FirebaseDataEncoder {
  /// How dates are encoded.
  public enum DateEncodingStrategy {
    /// As `Date` encodes itself: the seconds since 1 January 2001.
    case deferredToDate
    /// As the seconds since 1970.
    case secondsSince1970
    /// As the milliseconds since 1970.
    case millisecondsSince1970
    /// As a string in the format of RFC 3339.
    case iso8601
    /// As a string that the formatter makes.
    case formatted(DateFormatter)
    /// As the closure encodes it; an empty dictionary if it encodes nothing.
    case custom((Date, any Swift.Encoder) throws -> Void)
  }

  /// How binary data is encoded.
  public enum DataEncodingStrategy {
    /// As `Data` encodes itself: an array of bytes.
    case deferredToData
    /// As a string in Base64.
    case base64
    /// As the `Data` value itself.
    case blob
    /// As the closure encodes it; an empty dictionary if it encodes nothing.
    case custom((Data, any Swift.Encoder) throws -> Void)
  }

  /// The treatment of a floating-point number that is infinite or not a number.
  public enum NonConformingFloatEncodingStrategy {
    /// Encoding throws `EncodingError.invalidValue`.
    case `throw`
    /// The number is encoded as one of these strings.
    case convertToString(positiveInfinity: String, negativeInfinity: String, nan: String)
  }

  /// How the keys of keyed containers are named in the result.
  public enum KeyEncodingStrategy {
    /// As the coding keys are named.
    case useDefaultKeys
    /// `oneTwoThree` becomes `one_two_three`.
    case convertToSnakeCase
    /// As the closure answers for the path to the key.
    case custom((_ codingPath: [any CodingKey]) -> any CodingKey)
  }

  /// How dates are encoded; `.deferredToDate` unless it was set.
  open var dateEncodingStrategy = DateEncodingStrategy.deferredToDate

  /// How binary data is encoded; `.base64` unless it was set.
  open var dataEncodingStrategy = DataEncodingStrategy.base64

  /// The treatment of non-finite numbers; `.throw` unless it was set.
  open var nonConformingFloatEncodingStrategy = NonConformingFloatEncodingStrategy.throw

  /// How keys are named; `.useDefaultKeys` unless it was set.
  open var keyEncodingStrategy = KeyEncodingStrategy.useDefaultKeys

  /// The values that are put into the result as they are.
  open var passthroughTypeResolver: any StructureCodingPassthroughTypeResolver.Type = NoPassthroughTypes.self

  /// Information for the types that are encoded.
  open var userInfo: [CodingUserInfoKey: Any] = [:]

  /// Creates an encoder with the default strategies.
  public init() {}

  /// Encodes a value.
  ///
  /// - Parameter value: The value; it may also be a scalar or an array.
  /// - Returns: The encoded value, which shares nothing with the encoder.
  /// - Throws: `EncodingError` with the path to what cannot be encoded, or what the value's own `encode(to:)` throws.
  open func encode<T: Encodable>(_ value: T) throws -> sending Any {
    // The encoded value is freshly built or an immutable leaf, and the encoder keeps no part of it.
    nonisolated(unsafe) let result = try tree(of: value).value
    return result
  }

  /// Encodes a value into a form of the caller's, without building the result of ``encode(_:)`` first.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - type: The form.
  /// - Throws: `EncodingError`, what the value's own `encode(to:)` throws, or what the form throws for a leaf.
  public func encode<T: Encodable, Structure: EncodedStructure>(
    _ value: T, as type: Structure.Type
  ) throws -> Structure {
    try tree(of: value).structure(as: type)
  }

  private func tree<T: Encodable>(of value: T) throws -> EncodedValue {
    let options = EncodingOptions(
      dates: dateEncodingStrategy, data: dataEncodingStrategy, floats: nonConformingFloatEncodingStrategy,
      keys: keyEncodingStrategy, passthrough: passthroughTypeResolver, userInfo: userInfo)
    guard let encoded = try options.encode(value, at: []) else {
      throw EncodingError.invalidValue(
        value, .init(codingPath: [], debugDescription: "The top-level \(T.self) did not encode any values."))
    }
    return encoded
  }
}

/// The configuration of an encoder at the time of the call.
struct EncodingOptions {
  var dates: FirebaseDataEncoder.DateEncodingStrategy
  var data: FirebaseDataEncoder.DataEncodingStrategy
  var floats: FirebaseDataEncoder.NonConformingFloatEncodingStrategy
  var keys: FirebaseDataEncoder.KeyEncodingStrategy
  var passthrough: any StructureCodingPassthroughTypeResolver.Type
  var userInfo: [CodingUserInfoKey: Any]
}
