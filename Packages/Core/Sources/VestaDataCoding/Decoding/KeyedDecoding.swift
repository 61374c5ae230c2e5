import Foundation

/// Decodes the members of a dictionary.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: [String: Any]
  let decoder: DataDecoding
  private let place: CodingPlace.Container?

  init(members: [String: Any], decoder: DataDecoding) {
    (self.members, self.decoder, place) = (members, decoder, decoder.place.container)
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.keys.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

  /// The decoder of a member.
  private func member(_ key: some CodingKey) throws -> DataDecoding {
    guard let value = members[key.stringValue] else {
      throw DecodingError.keyNotFound(
        key,
        .init(codingPath: codingPath, debugDescription: "No value is associated with the key \"\(key.stringValue)\"."))
    }
    return DataDecoding(value: value, place: CodingPlace(key, in: place), options: decoder.options.below)
  }

  func decodeNil(forKey key: Key) throws -> Bool { presentValue(try member(key).value) == nil }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decodeBool() }
  func decode(_ type: String.Type, forKey key: Key) throws -> String { try member(key).decodeString() }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try member(key).decodeFloat(type) }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decodeFloat(type) }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try member(key).decodeInteger(type) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try member(key).decodeInteger(type) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try member(key).decodeInteger(type) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try member(key).decodeInteger(type) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try member(key).decodeInteger(type) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try member(key).decodeInteger(type) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try member(key).decodeInteger(type) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try member(key).decodeInteger(type) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try member(key).decodeInteger(type) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try member(key).decodeInteger(type) }

  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    // The value is not in the container: the type makes it from what the decoder knows, such as its user information.
    if type is any StructureCodingUncodedUnkeyed.Type { return try T(from: decoder) }
    return try SingleValueDecoding(decoder: member(key)).decode(type)
  }

  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    if type is any StructureCodingUncodedUnkeyed.Type { return try T(from: decoder) }
    guard contains(key), try !decodeNil(forKey: key) else { return nil }
    return try decode(type, forKey: key)
  }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try member(key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try member(key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { superDecoder(at: PathKey.super) }
  func superDecoder(forKey key: Key) throws -> any Decoder { superDecoder(at: key) }

  private func superDecoder(at key: any CodingKey) -> any Decoder {
    DataDecoding(
      value: members[key.stringValue] ?? NSNull(), place: CodingPlace(key, in: place), options: decoder.options.below)
  }
}
