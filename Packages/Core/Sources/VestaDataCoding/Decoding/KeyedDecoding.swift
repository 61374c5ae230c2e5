import Foundation

/// The members of a dictionary, or of a map that is read where it is.
enum DecodedMembers {
  case dictionary([String: Any])
  case map(any DecodedMap)
  /// By new names; the values are the ones in the map.
  case renamed(any DecodedMap, [String: String])

  var names: [String] {
    switch self {
    case .dictionary(let members): Array(members.keys)
    case .map(let map): map.names
    case .renamed(_, let names): Array(names.keys)
    }
  }

  func contains(_ name: String) -> Bool {
    switch self {
    case .dictionary(let members): members[name] != nil
    case .map(let map): map.contains(name)
    case .renamed(_, let names): names[name] != nil
    }
  }

  func member(_ name: String) throws -> DecodedValue? {
    switch self {
    case .dictionary(let members): members[name].map(DecodedValue.any)
    case .map(let map): try map.member(name)
    case .renamed(let map, let names): try names[name].flatMap(map.member)
    }
  }
}

/// Decodes the members of a dictionary.
///
/// Members of the common types are read without a decoder of their own.
struct KeyedDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let members: DecodedMembers
  let decoder: DataDecoding
  private let place: CodingPlace.Container?

  init(members: DecodedMembers, decoder: DataDecoding) {
    (self.members, self.decoder, place) = (members, decoder, decoder.place.container)
  }

  var codingPath: [any CodingKey] { decoder.codingPath }
  var allKeys: [Key] { members.names.compactMap(Key.init(stringValue:)) }

  func contains(_ key: Key) -> Bool { members.contains(key.stringValue) }

  private func source(_ key: some CodingKey) throws -> DecodedValue {
    if let source = try members.member(key.stringValue) { return source }
    throw DecodingError.keyNotFound(
      key,
      .init(codingPath: codingPath, debugDescription: "No value is associated with the key \"\(key.stringValue)\"."))
  }

  private func decoder(of source: DecodedValue, _ key: some CodingKey) -> DataDecoding {
    decoder.below(source, at: CodingPlace(key, in: place))
  }

  /// The decoder of a member.
  private func member(_ key: some CodingKey) throws -> DataDecoding { decoder(of: try source(key), key) }

  func decodeNil(forKey key: Key) throws -> Bool { try source(key).isNull }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try member(key).decodeBool() }

  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    let source = try source(key)
    return try source.string ?? decoder(of: source, key).decodeString()
  }

  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    let source = try source(key)
    if case .double(let value)? = source.number { return value }
    return try decoder(of: source, key).decodeFloat(type)
  }

  func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try member(key).decodeFloat(type) }

  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    let source = try source(key)
    if case .integer(let value)? = source.number, let value = Int(exactly: value) { return value }
    return try decoder(of: source, key).decodeInteger(type)
  }

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

  func superDecoder() throws -> any Decoder { try superDecoder(at: PathKey.super) }
  func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(at: key) }

  private func superDecoder(at key: any CodingKey) throws -> any Decoder {
    decoder(of: try members.member(key.stringValue) ?? .any(NSNull()), key)
  }
}
