import Foundation

/// The `Decoder` of one value.
struct DataDecoding: Decoder {
  let value: Any
  let place: CodingPlace
  var options: DecodingOptions

  var codingPath: [any CodingKey] { place.path }
  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    let dictionary = try dictionary(expected: [String: Any].self)
    return KeyedDecodingContainer(KeyedDecoding<Key>(members: renamed(dictionary), decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    UnkeyedDecoding(elements: try array(), decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoding(decoder: self) }

  func dictionary(expected: Any.Type) throws -> [String: Any] {
    if type(of: value) == [String: Any].self, let members = value as? [String: Any] { return members }
    guard let value = presentValue(value) else { throw missing(expected) }
    if let configured = value as? any FirebaseRemoteConfigValueDecoding, let members = configured.dictionaryValue() {
      return members
    }
    guard let dictionary = value as? [String: Any] else { throw mismatch(expected, found: value) }
    return dictionary
  }

  func array() throws -> [Any] {
    if type(of: value) == [Any].self, let elements = value as? [Any] { return elements }
    guard let value = presentValue(value) else { throw missing([Any].self) }
    if let configured = value as? any FirebaseRemoteConfigValueDecoding, let elements = configured.arrayValue() {
      return elements
    }
    guard let array = value as? [Any] else { throw mismatch([Any].self, found: value) }
    return array
  }

  /// The members by the names that coding keys have.
  ///
  /// Of two members with one name, the first in the order of their original names counts.
  private func renamed(_ dictionary: [String: Any]) -> [String: Any] {
    switch options.keys {
    case .useDefaultKeys: return dictionary
    case .convertFromSnakeCase: return renamed(dictionary, by: SnakeCase.toCamelCase)
    case .custom(let closure):
      return renamed(dictionary) { closure(codingPath + [PathKey(stringValue: $0)]).stringValue }
    }
  }

  private func renamed(_ dictionary: [String: Any], by name: (String) -> String) -> [String: Any] {
    let members = dictionary.sorted { $0.key < $1.key }.map { (name($0.key), $0.value) }
    return Dictionary(members) { first, _ in first }
  }

  // MARK: Errors

  func missing(_ type: Any.Type) -> DecodingError {
    .valueNotFound(type, .init(codingPath: codingPath, debugDescription: "Expected \(type) but found null instead."))
  }

  func mismatch(_ type: Any.Type, found value: Any) -> DecodingError {
    .typeMismatch(
      type,
      .init(codingPath: codingPath, debugDescription: "Expected \(type) but found \(Swift.type(of: value)) instead."))
  }

  func corrupted(_ description: String) -> DecodingError {
    .dataCorrupted(.init(codingPath: codingPath, debugDescription: description))
  }
}
