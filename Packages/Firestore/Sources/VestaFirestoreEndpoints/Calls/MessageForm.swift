import VestaBytes

/// How a message is read from and written to both wires.
struct MessageForm<Message: Sendable>: Sendable {
  let read: @Sendable ([UInt8]) throws(BytesError) -> Message
  let readJSON: @Sendable (JSONValue) throws(BytesError) -> Message
  let write: @Sendable (Message) throws(BytesError) -> [UInt8]
  let writeJSON: @Sendable (Message) throws(BytesError) -> [UInt8]

  /// The form of a statement of fields.
  static func schema<Schema: ProtobufSchema>(_ schema: Schema.Type) -> Self where Schema.Message == Message {
    MessageForm(
      read: { (bytes) throws(BytesError) in try Schema.message(from: bytes) },
      readJSON: { (json) throws(BytesError) in try Schema.message(json: json) },
      write: { (message) throws(BytesError) in try Schema.bytes(of: message) },
      writeJSON: { (message) throws(BytesError) in try Schema.json(of: message) })
  }

  /// The form of a conversion.
  static func conversion<Conversion: ProtobufConversion>(
    _ conversion: Conversion.Type
  ) -> Self where Conversion.Value == Message {
    MessageForm(
      read: { (bytes) throws(BytesError) in try Conversion.value(from: bytes) },
      readJSON: { (json) throws(BytesError) in try Conversion.value(json: json) },
      write: { (message) throws(BytesError) in try Conversion.bytes(of: message) },
      writeJSON: { (message) throws(BytesError) in try Conversion.json(of: message) })
  }
}
