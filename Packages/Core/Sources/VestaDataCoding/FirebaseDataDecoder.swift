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
    try decode(type, from: .any(structure), noting: nil)
  }

  /// Decodes a value that is read in a form of the caller's, without a structure of `Any` between.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - source: The source.
  ///   - entry: An entry of the user information for this value alone.
  /// - Returns: The value.
  /// - Throws: As ``decode(_:from:)``, and what a map throws for a member.
  public func decode<T: Decodable>(
    _ type: T.Type, from source: DecodedValue, noting entry: (key: CodingUserInfoKey, value: Any)?
  ) throws -> T {
    let options = DecodingOptions(
      dates: dateDecodingStrategy, data: dataDecodingStrategy, floats: nonConformingFloatDecodingStrategy,
      keys: keyDecodingStrategy, passthrough: passthroughTypeResolver, userInfo: userInfo, entry: entry)
    return try DataDecoding(source, at: .top, options).decode(type)
  }
}

/// The configuration of a decoder at the time of the call.
final class DecodingOptions {
  let dates: FirebaseDataDecoder.DateDecodingStrategy
  let data: FirebaseDataDecoder.DataDecodingStrategy
  let floats: FirebaseDataDecoder.NonConformingFloatDecodingStrategy
  let keys: FirebaseDataDecoder.KeyDecodingStrategy
  let passthrough: any StructureCodingPassthroughTypeResolver.Type
  private let commonInfo: [CodingUserInfoKey: Any]
  private let entry: (key: CodingUserInfoKey, value: Any)?
  /// Whether keys are left as they are, and whether there are types to pass through: known without looking.
  let renamesKeys: Bool
  let passesTypesThrough: Bool
  private let nested: DecodingOptions?

  init(
    dates: FirebaseDataDecoder.DateDecodingStrategy, data: FirebaseDataDecoder.DataDecodingStrategy,
    floats: FirebaseDataDecoder.NonConformingFloatDecodingStrategy, keys: FirebaseDataDecoder.KeyDecodingStrategy,
    passthrough: any StructureCodingPassthroughTypeResolver.Type, userInfo: [CodingUserInfoKey: Any],
    entry: (key: CodingUserInfoKey, value: Any)?, nested: DecodingOptions? = nil
  ) {
    (self.dates, self.data, self.floats, self.keys) = (dates, data, floats, keys)
    (self.passthrough, commonInfo, self.entry, self.nested) = (passthrough, userInfo, entry, nested)
    if case .useDefaultKeys = keys { renamesKeys = false } else { renamesKeys = true }
    passesTypesThrough = passthrough != NoPassthroughTypes.self
  }

  /// The information for the types that are decoded, put together when one asks for it.
  var userInfo: [CodingUserInfoKey: Any] {
    guard let entry else { return commonInfo }
    return commonInfo.merging([entry.key: entry.value]) { _, entry in entry }
  }

  /// The options for what is nested in a value that has these.
  var below: DecodingOptions { nested ?? self }

  /// The options for a dictionary whose keys are data: they are not renamed, but nested keys are.
  var forDictionary: DecodingOptions {
    guard renamesKeys else { return self }
    return DecodingOptions(
      dates: dates, data: data, floats: floats, keys: .useDefaultKeys, passthrough: passthrough, userInfo: commonInfo,
      entry: entry, nested: below)
  }
}
