import Foundation

/// Encodes the elements of an array.
struct UnkeyedEncoding: UnkeyedEncodingContainer {
  let array: EncodedArray
  let encoder: DataEncoding
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { array.elements.count }

  private func put(_ value: EncodedValue) { array.elements.append(value) }
  private var path: [any CodingKey] { codingPath + [PathKey(index: count)] }

  func encodeNil() { put(.null) }
  func encode(_ value: Bool) { put(.boolean(value)) }
  func encode(_ value: String) { put(.string(value)) }
  func encode(_ value: Double) throws { put(try encoder.options.number(value, at: path)) }
  func encode(_ value: Float) throws { put(try encoder.options.number(value, at: path)) }
  func encode(_ value: Int) { put(.integer(Int64(value))) }
  func encode(_ value: Int8) { encode(Int(value)) }
  func encode(_ value: Int16) { encode(Int(value)) }
  func encode(_ value: Int32) { encode(Int(value)) }
  func encode(_ value: Int64) { put(.integer(value)) }
  func encode(_ value: UInt) { put(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { encode(Int(value)) }
  func encode(_ value: UInt16) { encode(Int(value)) }
  func encode(_ value: UInt32) { encode(Int64(value)) }
  func encode(_ value: UInt64) { put(.unsigned(value)) }

  func encode<T: Encodable>(_ value: T) throws {
    // The path is made only where it may be needed.
    if !encoder.below.isPassthrough(value), let scalar = EncodedValue(scalar: value) { return put(scalar) }
    put(try encoder.below.encode(value, at: path) ?? .dictionary(EncodedDictionary()))
  }

  func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
    nested().container(keyedBy: type)
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
  func superEncoder() -> any Encoder { nested() }

  private func nested() -> DataEncoding {
    let slot = EncodedSlot()
    let path = path
    put(.pending(slot))
    return DataEncoding(slot: slot, codingPath: path, options: encoder.below)
  }
}
