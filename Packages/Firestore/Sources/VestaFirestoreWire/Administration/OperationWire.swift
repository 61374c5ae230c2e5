public import VestaBytes
public import VestaFirestoreBackend

/// A message of any type, in one of both forms or in both: `google.protobuf.Any`.
///
/// Its JSON form has the fields of the message, so it cannot be made of the bytes without the statement of the type.
public struct AnyMessage: Sendable, Hashable {
  /// The full name of the type: `google.firestore.admin.v1.Index`.
  public let type: String
  fileprivate let bytes: [UInt8]?
  fileprivate let json: JSONObject?

  fileprivate static let prefix = "type.googleapis.com/"

  fileprivate init(type: String, bytes: [UInt8]?, json: JSONObject?) {
    (self.type, self.bytes, self.json) = (type, bytes, json)
  }

  /// A message with its statement.
  public init<Schema: ProtobufSchema>(
    _ type: String, _ message: Schema.Message, _ schema: Schema.Type
  ) throws(BytesError) {
    let json = try JSONObject(json: Schema.json(of: message))
    self.init(type: type, bytes: try Schema.bytes(of: message), json: json)
  }

  /// The message, read by the statement of its type.
  public func message<Schema: ProtobufSchema>(_ schema: Schema.Type) throws(BytesError) -> Schema.Message {
    if let bytes { return try Schema.message(from: bytes) }
    return try Schema.message(json: .object(json ?? JSONObject()))
  }
}

/// The kind of `google.protobuf.Any`.
enum AnyMessageWire: ProtobufKind {
  static var wireType: ProtobufWireType { .delimited }

  static func isDefault(_ value: AnyMessage) -> Bool { false }

  static func write(_ value: AnyMessage, to writer: inout ProtobufWriter) throws(BytesError) {
    guard let bytes = value.bytes else { throw BytesError(.invalidValue, "a message of JSON has no bytes") }
    try ProtobufMessage<ProtobufAnySchema>.write(
      ProtobufAny(typeURL: AnyMessage.prefix + value.type, value: bytes), to: &writer)
  }

  static func read(_ reader: inout ProtobufReader) throws(BytesError) -> AnyMessage {
    let any = try ProtobufMessage<ProtobufAnySchema>.read(&reader)
    return AnyMessage(type: type(of: any.typeURL), bytes: any.value, json: nil)
  }

  static func write(_ value: AnyMessage, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    guard let json = value.json else { throw BytesError(.invalidValue, "a message of bytes has no JSON") }
    var object: JSONObject = ["@type": .string(AnyMessage.prefix + value.type)]
    for member in json.members { object[member.name] = member.value }
    try writer.write(.object(object))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> AnyMessage {
    guard case .object(var object) = json, let url = object["@type"]?.string else {
      throw reader.malformed("this is no message of any type")
    }
    object["@type"] = nil
    return AnyMessage(type: type(of: url), bytes: nil, json: object)
  }

  private static func type(of url: String) -> String {
    url.parts(at: "/", omittingEmpty: true).last.map(String.init) ?? ""
  }
}

/// Work that a call has started: `google.longrunning.Operation`.
public struct AdminOperation: Sendable, Hashable {
  /// The end of the work.
  public enum Outcome: Sendable, Hashable {
    /// It has failed.
    case failure(ProtobufStatus)
    /// It has a result.
    case response(AnyMessage)
  }

  /// The resource name.
  public var name: String
  /// A description of the work and of its progress.
  public var metadata: AnyMessage?
  /// Whether the work has ended.
  public var isDone = false
  /// The end of the work; `nil` before.
  public var outcome: Outcome?

  /// An operation that is not done.
  public init(name: String) { self.name = name }
}

/// The statement of `google.longrunning.Operation`.
public enum OperationWire: ProtobufSchema {
  /// No fields.
  public static var empty: AdminOperation { AdminOperation(name: "") }

  /// Visits the fields.
  public static func visit(
    _ operation: inout AdminOperation, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "name", &operation.name, ProtobufString.self)
    try visitor.optional(2, "metadata", &operation.metadata, AnyMessageWire.self)
    try visitor.field(3, "done", &operation.isDone, ProtobufBool.self)
    try visitor.member(4, "error", &operation.outcome, ProtobufMessage<ProtobufStatusSchema>.self) {
      if case .failure(let status)? = $0 { status } else { nil }
    } embed: {
      .failure($0)
    }
    try visitor.member(5, "response", &operation.outcome, AnyMessageWire.self) {
      if case .response(let message)? = $0 { message } else { nil }
    } embed: {
      .response($0)
    }
  }
}

/// The state of the work of an operation.
public enum OperationState: NumberedCases {
  /// No state.
  case unspecified
  /// It is prepared.
  case initializing
  /// It is under way.
  case processing
  /// It is being cancelled.
  case cancelling
  /// It is almost done.
  case finalizing
  /// It is done.
  case successful
  /// It has failed.
  case failed
  /// It was cancelled.
  case cancelled

  /// The names of the cases.
  public static let names: [StaticString] = [
    "OPERATION_STATE_UNSPECIFIED", "INITIALIZING", "PROCESSING", "CANCELLING", "FINALIZING", "SUCCESSFUL", "FAILED",
    "CANCELLED",
  ]
}

/// The description of an operation on an index or a field: `google.firestore.admin.v1.IndexOperationMetadata`.
public struct IndexOperationMetadata: Sendable, Hashable {
  /// When it started.
  public var startTime: Timestamp?
  /// When it ended.
  public var endTime: Timestamp?
  /// The resource name of the index, or of the field.
  public var resource = ""
  /// Its state.
  public var state = OperationState.unspecified

  /// No fields.
  public init() {}
}

/// The statement of `google.firestore.admin.v1.IndexOperationMetadata`.
public enum IndexOperationMetadataWire: ProtobufSchema {
  /// No fields.
  public static var empty: IndexOperationMetadata { IndexOperationMetadata() }

  /// Visits the fields.
  public static func visit(
    _ metadata: inout IndexOperationMetadata, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.optional(1, "startTime", &metadata.startTime, TimestampWire.self)
    try visitor.optional(2, "endTime", &metadata.endTime, TimestampWire.self)
    try visitor.field(3, "index", &metadata.resource, ProtobufString.self)
    try visitor.field(4, "state", &metadata.state, ProtobufEnum<OperationState>.self)
  }
}

/// The statement of `google.firestore.admin.v1.FieldOperationMetadata`, without the changes in it.
public enum FieldOperationMetadataWire: ProtobufSchema {
  /// No fields.
  public static var empty: IndexOperationMetadata { IndexOperationMetadata() }

  /// Visits the fields.
  public static func visit(
    _ metadata: inout IndexOperationMetadata, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.optional(1, "startTime", &metadata.startTime, TimestampWire.self)
    try visitor.optional(2, "endTime", &metadata.endTime, TimestampWire.self)
    try visitor.field(3, "field", &metadata.resource, ProtobufString.self)
    try visitor.field(5, "state", &metadata.state, ProtobufEnum<OperationState>.self)
  }
}
