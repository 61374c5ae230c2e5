public import VestaBytes
public import VestaFirestoreBackend

/// A request on a stream of writes, with the stream that it resumes.
public struct WriteStreamRequest: Sendable, Hashable {
  /// The name of the stream that is resumed; empty for a new one.
  public var streamID: String

  /// The writes, with the database that the first request of a stream names.
  public var request: WriteRequest

  /// A request.
  public init(streamID: String = "", _ request: WriteRequest) {
    self.streamID = streamID
    self.request = request
  }
}

/// The conversion of `google.firestore.v1.WriteRequest`.
///
/// The id of a write, which makes it happen once although its answer was lost, travels in two labels. A service that
/// does not know them ignores them.
public enum WriteRequestWire: ProtobufConversion {
  /// The fields.
  public struct Parts {
    /// The request without its id.
    public var message = WriteStreamRequest(WriteRequest())
    /// The labels, which have the id.
    public var labels: [String: String] = [:]
  }

  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: Parts { Parts() }

    /// Visits the fields.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "database", &parts.message.request.database, ProtobufString.self)
      try visitor.field(2, "streamId", &parts.message.streamID, ProtobufString.self)
      try visitor.repeated(3, "writes", &parts.message.request.writes, ProtobufConverted<WriteWire>.self)
      try visitor.field(4, "streamToken", &parts.message.request.streamToken, ProtobufBytes.self)
      try visitor.map(5, "labels", &parts.labels, ProtobufString.self)
      try visitor.requestOptions(6)
    }
  }

  private static let queueLabel = "vesta-queue"
  private static let numberLabel = "vesta-number"

  /// The fields of a request.
  public static func parts(of message: WriteStreamRequest) -> Parts {
    var parts = Parts(message: message)
    if let id = message.request.id {
      parts.labels = [queueLabel: Hex.encode(id.queue), numberLabel: String(id.number)]
    }
    return parts
  }

  /// The request of fields.
  public static func value(of parts: Parts) -> WriteStreamRequest {
    var message = parts.message
    if let queue = parts.labels[queueLabel].flatMap({ try? Hex.decode($0) }),
      let number = parts.labels[numberLabel].flatMap({ Int64($0) })
    {
      message.request.id = WriteRequestID(queue: queue, number: number)
    }
    return message
  }
}

/// The statement of `google.firestore.v1.WriteResponse`.
public enum WriteResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: WriteResponse { WriteResponse(streamToken: []) }

  /// Visits the fields.
  public static func visit(
    _ response: inout WriteResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "streamId", &response.streamID, ProtobufString.self)
    try visitor.field(2, "streamToken", &response.streamToken, ProtobufBytes.self)
    try visitor.repeated(3, "writeResults", &response.writeResults, ProtobufMessage<WriteResultWire>.self)
    try visitor.optional(4, "commitTime", &response.commitTime, TimestampWire.self)
  }
}
