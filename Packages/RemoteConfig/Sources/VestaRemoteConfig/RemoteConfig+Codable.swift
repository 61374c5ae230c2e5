import Foundation
import VestaDataCoding

extension RemoteConfig {
  /// Decodes the whole configuration: active values, and defaults for the other keys.
  ///
  /// - Parameter asType: A type whose coding keys are the keys of parameters.
  /// - Throws: `DecodingError` with the path to what does not fit.
  public func decoded<Value: Decodable>(asType: Value.Type = Value.self) throws -> Value {
    let keys = Set(allKeys(from: .default)).union(allKeys(from: .remote))
    let members = keys.map { ($0, FirebaseRemoteConfigValueDecoderHelper(value: configValue(forKey: $0)) as Any) }
    return try FirebaseDataDecoder().decode(asType, from: Dictionary(uniqueKeysWithValues: members))
  }

  /// Sets the default values from a value that encodes to a dictionary, in place of all that were set before.
  ///
  /// - Parameter value: The value, such as a struct.
  /// - Throws: ``RemoteConfigCodableError`` when it does not encode to a dictionary; `EncodingError`. The defaults are
  ///   unchanged then.
  public func setDefaults<Value: Encodable>(from value: Value) throws {
    guard let defaults = try FirebaseDataEncoder().encode(value) as? [String: Any] else {
      throw RemoteConfigCodableError.invalidSetDefaultsInput(
        "The setDefaults input: \(value), must be a Struct that encodes to a Dictionary")
    }
    setDefaults(defaults)
  }

  /// The value for a key, decoded; `nil` when it does not decode as the type.
  public subscript<T: Decodable>(decodedValue key: String) -> T? {
    try? configValue(forKey: key).decoded(asType: T.self)
  }

  /// The value for a key as a dictionary; `nil` when it is no dictionary in JSON.
  public subscript(jsonValue key: String) -> [String: AnyHashable]? {
    FirebaseRemoteConfigValueDecoderHelper(value: configValue(forKey: key)).dictionaryValue()
  }
}
