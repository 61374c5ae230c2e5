import Foundation

/// A ``FirebaseDataDecoder`` with the strategies of one time: they are put together once for many values.
public struct PreparedDecoder {
  private let options: DecodingOptions

  init(_ options: DecodingOptions) { self.options = options }

  /// Decodes a value that is read in a form of the caller's, without a structure of `Any` between.
  ///
  /// - Parameters:
  ///   - type: The type to decode.
  ///   - source: The source.
  ///   - object: An object in the user information for this value alone, under the key that the decoder was prepared
  ///     with.
  /// - Returns: The value.
  /// - Throws: As ``FirebaseDataDecoder/decode(_:from:)``, and what a map throws for a member.
  public func decode<T: Decodable>(
    _ type: T.Type, from source: DecodedValue, noting object: AnyObject? = nil
  ) throws -> T {
    try DataDecoding(source, at: .top, options, noting: object).decode(type)
  }
}

/// The strategies of a decoder at one time.
final class DecodingOptions {
  let dates: FirebaseDataDecoder.DateDecodingStrategy
  let data: FirebaseDataDecoder.DataDecodingStrategy
  let floats: FirebaseDataDecoder.NonConformingFloatDecodingStrategy
  let keys: FirebaseDataDecoder.KeyDecodingStrategy
  let passthrough: any StructureCodingPassthroughTypeResolver.Type
  private let commonInfo: [CodingUserInfoKey: Any]
  /// The key of the object that is noted with a value.
  private let noted: CodingUserInfoKey?
  /// Whether keys are left as they are, and whether there are types to pass through: known without looking.
  let renamesKeys: Bool
  let passesTypesThrough: Bool
  private let nested: DecodingOptions?

  init(
    dates: FirebaseDataDecoder.DateDecodingStrategy, data: FirebaseDataDecoder.DataDecodingStrategy,
    floats: FirebaseDataDecoder.NonConformingFloatDecodingStrategy, keys: FirebaseDataDecoder.KeyDecodingStrategy,
    passthrough: any StructureCodingPassthroughTypeResolver.Type, userInfo: [CodingUserInfoKey: Any],
    noted: CodingUserInfoKey?, nested: DecodingOptions? = nil
  ) {
    (self.dates, self.data, self.floats, self.keys) = (dates, data, floats, keys)
    (self.passthrough, commonInfo, self.noted, self.nested) = (passthrough, userInfo, noted, nested)
    if case .useDefaultKeys = keys { renamesKeys = false } else { renamesKeys = true }
    passesTypesThrough = passthrough != NoPassthroughTypes.self
  }

  /// The information for the types that are decoded, with the object that is noted with the value.
  func userInfo(noting object: AnyObject?) -> [CodingUserInfoKey: Any] {
    guard let object, let noted else { return commonInfo }
    return commonInfo.merging([noted: object]) { $1 }
  }

  /// The options for what is nested in a value that has these.
  var below: DecodingOptions { nested ?? self }

  /// The options for a dictionary whose keys are data: they are not renamed, but nested keys are.
  var forDictionary: DecodingOptions {
    guard renamesKeys else { return self }
    return DecodingOptions(
      dates: dates, data: data, floats: floats, keys: .useDefaultKeys, passthrough: passthrough, userInfo: commonInfo,
      noted: noted, nested: below)
  }
}
