import Foundation
import VestaDataCoding

/// The failure to decode a value.
public enum RemoteConfigValueCodableError: Error, Sendable, Equatable {
  /// Values of this type cannot be decoded.
  case unsupportedType(String)
}

/// The failure to set defaults.
public enum RemoteConfigCodableError: Error, Sendable, Equatable {
  /// The value does not encode to a dictionary.
  case invalidSetDefaultsInput(String)
}

extension RemoteConfigValue {
  /// Decodes the value.
  ///
  /// Numbers, booleans and strings are read from ``numberValue``, ``boolValue`` and ``stringValue``; structures and
  /// arrays from JSON.
  ///
  /// - Parameter asType: The type to decode.
  /// - Throws: ``RemoteConfigValueCodableError`` for a `Date`; `DecodingError` with the path to what does not fit.
  public func decoded<Value: Decodable>(asType: Value.Type = Value.self) throws -> Value {
    if asType == Date.self {
      throw RemoteConfigValueCodableError.unsupportedType(
        "Date type is not currently supported for  Remote Config Value decoding. Please file a feature request")
    }
    return try FirebaseDataDecoder().decode(asType, from: FirebaseRemoteConfigValueDecoderHelper(value: self))
  }
}

/// A value as the decoder sees it.
struct FirebaseRemoteConfigValueDecoderHelper: FirebaseRemoteConfigValueDecoding {
  let value: RemoteConfigValue

  func numberValue() -> NSNumber { value.numberValue }
  func boolValue() -> Bool { value.boolValue }
  func stringValue() -> String { value.stringValue }
  func dataValue() -> Data { value.dataValue }
  func arrayValue() -> [AnyHashable]? { value.jsonValue.map(Self.hashable) as? [AnyHashable] }
  func dictionaryValue() -> [String: AnyHashable]? { value.jsonValue.map(Self.hashable) as? [String: AnyHashable] }

  /// A value of JSON, with hashable values at every depth.
  private static func hashable(_ value: Any) -> AnyHashable {
    switch value {
    case let members as [String: Any]: members.mapValues(hashable)
    case let elements as [Any]: elements.map(hashable)
    case let value as NSObject: value
    case let value as AnyHashable: value
    default: NSNull()
    }
  }
}
