package import VestaBytes
package import VestaDataCoding

/// An encoder and a decoder that several tasks use at once.
// Sound as @unchecked Sendable: encoding and decoding read the configuration, and it is not changed after `init`.
package final class SharedCoders: @unchecked Sendable {
  package let encoder: FirebaseDataEncoder
  package let decoder: FirebaseDataDecoder
  private let isPlain: Bool

  package init(
    encoder: FirebaseDataEncoder = FirebaseDataEncoder(), decoder: FirebaseDataDecoder = FirebaseDataDecoder()
  ) {
    self.encoder = encoder
    self.decoder = decoder
    isPlain = type(of: encoder) == FirebaseDataEncoder.self
  }

  /// The wire's form of a value.
  ///
  /// A subclass of the encoder may encode differently, and is used then; otherwise the form is built at once,
  /// without loosely typed values in between.
  package func encoded<Value: Encodable>(_ value: Value) throws -> JSONValue {
    guard isPlain else { return try CallableValue.encode(try encoder.encode(value)) }
    let wire = try encoder.encode(value, as: WireStructure.self)
    guard wire.height <= CallableValue.maximumDepth else { throw CallableValue.Failure.tooDeep }
    return wire.json
  }
}

/// The wire's form, as an encoder builds it.
private struct WireStructure: EncodedStructure {
  let json: JSONValue
  /// The number of values that are nested in one another, this one included.
  var height = 1

  static var null: WireStructure { WireStructure(json: .null) }
  static func boolean(_ value: Bool) -> WireStructure { WireStructure(json: .bool(value)) }
  static func integer(_ value: Int64) -> WireStructure { WireStructure(json: CallableValue.wrapped(value)) }
  static func double(_ value: Double) -> WireStructure { WireStructure(json: .number(value)) }
  static func string(_ value: String) -> WireStructure { WireStructure(json: .string(value)) }
  static func leaf(_ value: Any) throws -> WireStructure { WireStructure(json: try CallableValue.encode(value)) }

  static func unsigned(_ value: UInt64) -> WireStructure {
    // The wire's form of an integer depends on its size, not on the type that it had.
    Int64(exactly: value).map(integer) ?? WireStructure(json: CallableValue.wrapped(value))
  }

  static func array(_ elements: [WireStructure]) -> WireStructure {
    WireStructure(json: .array(elements.map(\.json)), height: 1 + (elements.map(\.height).max() ?? 0))
  }

  static func dictionary(_ members: [String: WireStructure]) -> WireStructure {
    var (object, height) = (JSONObject(), 0)
    for (name, member) in members {
      object[name] = member.json
      height = max(height, member.height)
    }
    return WireStructure(json: .object(object), height: 1 + height)
  }
}
