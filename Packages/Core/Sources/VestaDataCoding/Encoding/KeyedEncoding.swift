import Foundation

/// Encodes the members of a dictionary.
struct KeyedEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let dictionary: EncodedDictionary
  let encoder: DataEncoding
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func put(_ value: EncodedValue, for key: any CodingKey) {
    dictionary.members[encoder.options.name(of: key, in: codingPath)] = value
  }

  private func path(_ key: any CodingKey) -> [any CodingKey] { codingPath + [key] }

  func encodeNil(forKey key: Key) { put(.null, for: key) }
  func encode(_ value: Bool, forKey key: Key) { put(.boolean(value), for: key) }
  func encode(_ value: String, forKey key: Key) { put(.string(value), for: key) }
  func encode(_ value: Double, forKey key: Key) throws {
    put(try encoder.options.number(value, at: path(key)), for: key)
  }
  func encode(_ value: Float, forKey key: Key) throws {
    put(try encoder.options.number(value, at: path(key)), for: key)
  }
  func encode(_ value: Int, forKey key: Key) { put(.integer(Int64(value)), for: key) }
  func encode(_ value: Int8, forKey key: Key) { encode(Int(value), forKey: key) }
  func encode(_ value: Int16, forKey key: Key) { encode(Int(value), forKey: key) }
  func encode(_ value: Int32, forKey key: Key) { encode(Int(value), forKey: key) }
  func encode(_ value: Int64, forKey key: Key) { put(.integer(value), for: key) }
  func encode(_ value: UInt, forKey key: Key) { put(.unsigned(UInt64(value)), for: key) }
  func encode(_ value: UInt8, forKey key: Key) { encode(Int(value), forKey: key) }
  func encode(_ value: UInt16, forKey key: Key) { encode(Int(value), forKey: key) }
  func encode(_ value: UInt32, forKey key: Key) { encode(Int64(value), forKey: key) }
  func encode(_ value: UInt64, forKey key: Key) { put(.unsigned(value), for: key) }

  func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
    if !encoder.below.isPassthrough(value), let scalar = EncodedValue(scalar: value) { return put(scalar, for: key) }
    if value is any StructureCodingUncodedUnkeyed { return }
    put(try encoder.below.encode(value, at: path(key)) ?? .dictionary(EncodedDictionary()), for: key)
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type, forKey key: Key) -> KeyedEncodingContainer<Nested>
  {
    nested(key) { existing in if case .dictionary = existing { true } else { false } }.container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    nested(key) { existing in if case .array = existing { true } else { false } }.unkeyedContainer()
  }

  /// The encoder of a nested container; a container of the same kind that is there is filled further.
  private func nested(_ key: any CodingKey, fits: (EncodedValue) -> Bool) -> DataEncoding {
    let slot = EncodedSlot()
    let name = encoder.options.name(of: key, in: codingPath)
    if case .pending(let earlier) = dictionary.members[name], let content = earlier.content, fits(content) {
      return DataEncoding(slot: earlier, codingPath: path(key), options: encoder.below)
    }
    put(.pending(slot), for: key)
    return DataEncoding(slot: slot, codingPath: path(key), options: encoder.below)
  }

  func superEncoder() -> any Encoder { nested(PathKey.super) { _ in false } }
  func superEncoder(forKey key: Key) -> any Encoder { nested(key) { _ in false } }
}
