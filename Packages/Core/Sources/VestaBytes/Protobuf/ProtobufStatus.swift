/// A message of any type, by the URL of the type: `google.protobuf.Any`.
public struct ProtobufAny: Sendable, Hashable {
  /// The URL of the type, such as `type.googleapis.com/google.rpc.RetryInfo`.
  public var typeURL: String

  /// The bytes of the message.
  public var value: [UInt8]

  /// A message of a type.
  public init(typeURL: String, value: [UInt8]) {
    self.typeURL = typeURL
    self.value = value
  }
}

/// The statement of `google.protobuf.Any`; its JSON has the bytes in base64, as the type is not known.
public enum ProtobufAnySchema: ProtobufSchema {
  /// A message of no type.
  public static var empty: ProtobufAny { ProtobufAny(typeURL: "", value: []) }

  /// Visits the fields.
  @inlinable
  public static func visit(_ any: inout ProtobufAny, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "@type", &any.typeURL, ProtobufString.self)
    try visitor.field(2, "value", &any.value, ProtobufBytes.self)
  }
}

/// The outcome of a call: `google.rpc.Status`.
public struct ProtobufStatus: Sendable, Hashable {
  /// The number of the status code; zero is success.
  public var code: Int32

  /// A message for developers.
  public var message: String

  /// Structured details.
  public var details: [ProtobufAny]

  /// An outcome.
  public init(code: Int32, message: String, details: [ProtobufAny] = []) {
    self.code = code
    self.message = message
    self.details = details
  }
}

/// The statement of `google.rpc.Status`; its JSON has no details.
public enum ProtobufStatusSchema: ProtobufSchema {
  /// Success.
  public static var empty: ProtobufStatus { ProtobufStatus(code: 0, message: "") }

  /// Visits the fields.
  @inlinable
  public static func visit(_ status: inout ProtobufStatus, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "code", &status.code, ProtobufInt32.self)
    try visitor.field(2, "message", &status.message, ProtobufString.self)
    // In JSON a detail has the fields of its type, which is not known here.
    if visitor is ProtobufJSONWriter { return }
    try visitor.repeated(3, "details", &status.details, ProtobufMessage<ProtobufAnySchema>.self)
  }
}
