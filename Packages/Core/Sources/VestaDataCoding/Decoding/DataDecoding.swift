import Foundation

/// The `Decoder` of one value.
///
/// An object, because a decoder is handed on from container to container, and a large value would be copied each time.
final class DataDecoding: Decoder {
  let source: DecodedValue
  let place: CodingPlace
  let options: DecodingOptions
  /// The object that is noted with the value at the top.
  private let noted: AnyObject?

  init(_ source: DecodedValue, at place: CodingPlace, _ options: DecodingOptions, noting noted: AnyObject?) {
    (self.source, self.place, self.options, self.noted) = (source, place, options, noted)
  }

  /// The decoder of a value in this one.
  func below(_ source: DecodedValue, at place: CodingPlace) -> DataDecoding {
    DataDecoding(source, at: place, options.below, noting: noted)
  }

  /// The decoder of the same value as a dictionary whose keys are data.
  var asDictionary: DataDecoding { DataDecoding(source, at: place, options.forDictionary, noting: noted) }

  /// The value, loosely typed.
  var value: Any { source.loose }
  var codingPath: [any CodingKey] { place.path }
  var userInfo: [CodingUserInfoKey: Any] { options.userInfo(noting: noted) }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(KeyedDecoding<Key>(members: try members(), decoder: self))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    if case .array(let elements) = source { return UnkeyedDecoding(elements: .typed(elements), decoder: self) }
    return UnkeyedDecoding(elements: .loose(try array()), decoder: self)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { SingleValueDecoding(decoder: self) }

  private func members() throws -> DecodedMembers {
    if case .map(let map) = source {
      return options.renamesKeys ? .renamed(map, renamed(map.names.map { ($0, $0) })) : .map(map)
    }
    let dictionary = try dictionary(expected: [String: Any].self)
    return .dictionary(options.renamesKeys ? renamed(dictionary.map { ($0.key, $0.value) }) : dictionary)
  }

  private func dictionary(expected: Any.Type) throws -> [String: Any] {
    let value = value
    if type(of: value) == [String: Any].self, let members = value as? [String: Any] { return members }
    guard let value = presentValue(value) else { throw missing(expected) }
    if let configured = value as? any FirebaseRemoteConfigValueDecoding, let members = configured.dictionaryValue() {
      return members
    }
    guard let dictionary = value as? [String: Any] else { throw mismatch(expected, found: value) }
    return dictionary
  }

  private func array() throws -> [Any] {
    let value = value
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
  private func renamed<Member>(_ members: [(name: String, member: Member)]) -> [String: Member] {
    let members = members.sorted { $0.name < $1.name }.map { (codingName($0.name), $0.member) }
    return Dictionary(members) { first, _ in first }
  }

  private func codingName(_ name: String) -> String {
    switch options.keys {
    case .useDefaultKeys: name
    case .convertFromSnakeCase: SnakeCase.toCamelCase(name)
    case .custom(let closure): closure(codingPath + [PathKey(stringValue: name)]).stringValue
    }
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
