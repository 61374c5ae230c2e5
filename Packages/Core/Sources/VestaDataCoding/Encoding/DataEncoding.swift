import Foundation

/// The `Encoder` that fills one slot.
struct DataEncoding: Encoder {
  let slot: EncodedSlot
  let codingPath: [any CodingKey]
  let options: EncodingOptions
  /// The options for what is nested in the container of this place.
  let below: EncodingOptions

  init(slot: EncodedSlot, codingPath: [any CodingKey], options: EncodingOptions, below: EncodingOptions? = nil) {
    self.slot = slot
    self.codingPath = codingPath
    self.options = options
    self.below = below ?? options
  }

  var userInfo: [CodingUserInfoKey: Any] { options.userInfo }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    let dictionary: EncodedDictionary
    switch slot.content {
    case nil:
      dictionary = EncodedDictionary()
      slot.content = .dictionary(dictionary)
    case .dictionary(let existing): dictionary = existing
    default:
      dictionary = EncodedDictionary()
      refuse("a keyed container")
    }
    return KeyedEncodingContainer(KeyedEncoding<Key>(dictionary: dictionary, encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    let array: EncodedArray
    switch slot.content {
    case nil:
      array = EncodedArray()
      slot.content = .array(array)
    case .array(let existing): array = existing
    default:
      array = EncodedArray()
      refuse("an unkeyed container")
    }
    return UnkeyedEncoding(array: array, encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { SingleValueEncoding(encoder: self) }

  /// Records that something was encoded here already; values of the second container are lost.
  func refuse(_ container: String) {
    guard slot.failure == nil else { return }
    slot.failure = EncodingError.invalidValue(
      slot.content?.value ?? NSNull(),
      .init(codingPath: codingPath, debugDescription: "\(container) was requested where something is encoded already."))
  }
}

/// Encodes the value of a single-value container.
struct SingleValueEncoding: SingleValueEncodingContainer {
  let encoder: DataEncoding
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func put(_ value: EncodedValue) throws {
    if encoder.slot.content != nil { encoder.refuse("a second value") }
    if let failure = encoder.slot.failure { throw failure }
    encoder.slot.content = value
  }

  func encodeNil() throws { try put(.null) }
  func encode(_ value: Bool) throws { try put(.boolean(value)) }
  func encode(_ value: String) throws { try put(.string(value)) }
  func encode(_ value: Double) throws { try put(encoder.options.number(value, at: codingPath)) }
  func encode(_ value: Float) throws { try put(encoder.options.number(value, at: codingPath)) }
  func encode(_ value: Int) throws { try put(.integer(Int64(value))) }
  func encode(_ value: Int8) throws { try encode(Int(value)) }
  func encode(_ value: Int16) throws { try encode(Int(value)) }
  func encode(_ value: Int32) throws { try encode(Int(value)) }
  func encode(_ value: Int64) throws { try put(.integer(value)) }
  func encode(_ value: UInt) throws { try put(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) throws { try encode(Int(value)) }
  func encode(_ value: UInt16) throws { try encode(Int(value)) }
  func encode(_ value: UInt32) throws { try encode(Int64(value)) }
  func encode(_ value: UInt64) throws { try put(.unsigned(value)) }

  func encode<T: Encodable>(_ value: T) throws {
    // A value that encodes nothing leaves the place as it is, so that the outer value counts as empty too.
    guard let encoded = try encoder.options.encode(value, at: codingPath) else { return }
    try put(encoded)
  }
}
