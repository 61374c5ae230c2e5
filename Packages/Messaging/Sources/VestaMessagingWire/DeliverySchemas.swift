import VestaBytes
import VestaMessagingBackend

/// The members of a request to connect or to acknowledge; it needs the first one.
struct RequestParts {
  var token: String?
  var messageIDs: [String] = []
}

/// The statement of a request to connect or to acknowledge.
enum RequestSchema: ProtobufSchema {
  static var empty: RequestParts { RequestParts() }

  static func visit(_ request: inout RequestParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "token", &request.token, ProtobufString.self)
    try visitor.repeated(2, "messageIds", &request.messageIDs, ProtobufString.self)
  }
}

/// The members of a delivery; it needs the first four.
struct DeliveryParts {
  var messageID: String?
  var from: String?
  var sentTime: Int64?
  var message: PushMessage?
  var timeToLive: Double?
  var isHighPriority = false
  var collapseKey: String?
  var droppedBefore: Int64?
}

/// The statement of a delivery.
enum DeliverySchema: ProtobufSchema {
  static var empty: DeliveryParts { DeliveryParts() }

  static func visit(_ delivery: inout DeliveryParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "messageId", &delivery.messageID, ProtobufString.self)
    try visitor.optional(2, "from", &delivery.from, ProtobufString.self)
    try visitor.optional(3, "sentTime", &delivery.sentTime, ProtobufInt64.self)
    try visitor.optional(4, "message", &delivery.message, MessageKind.self)
    try visitor.optional(5, "ttl", &delivery.timeToLive, ProtobufDouble.self)
    try visitor.field(6, "priority", &delivery.isHighPriority, PriorityKind.self)
    try visitor.optional(7, "collapseKey", &delivery.collapseKey, ProtobufString.self)
    try visitor.optional(8, "droppedBefore", &delivery.droppedBefore, JSONInteger.self)
  }
}

/// The members of a page of sent messages.
struct OutboxParts {
  var messages: [SentParts] = []
  var nextPageToken: String?
}

/// The members of a sent message; it needs all but the last one.
struct SentParts {
  var name = ""
  var sentTime: Int64?
  var expiryTime: Int64?
  var message: PushMessage?
  var isWaiting: Bool?
}

/// The statement of a page of sent messages.
enum OutboxSchema: ProtobufSchema {
  static var empty: OutboxParts { OutboxParts() }

  static func visit(_ page: inout OutboxParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "messages", &page.messages, ProtobufMessage<SentSchema>.self)
    try visitor.optional(2, "nextPageToken", &page.nextPageToken, ProtobufString.self)
  }
}

private enum SentSchema: ProtobufSchema {
  static var empty: SentParts { SentParts() }

  static func visit(_ sent: inout SentParts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "name", &sent.name, ProtobufString.self)
    try visitor.optional(2, "sendTime", &sent.sentTime, JSONTime.self)
    try visitor.optional(3, "expireTime", &sent.expiryTime, JSONTime.self)
    try visitor.optional(4, "message", &sent.message, MessageKind.self)
    try visitor.optional(5, "isWaiting", &sent.isWaiting, ProtobufBool.self)
  }
}

/// The statement of the statistics of the service.
enum StatisticsSchema: ProtobufSchema {
  static var empty: DeliveryStatistics { DeliveryStatistics() }

  static func visit(
    _ statistics: inout DeliveryStatistics, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "accepted", &statistics.accepted, JSONInteger.self)
    try visitor.field(2, "delivered", &statistics.delivered, JSONInteger.self)
    try visitor.field(3, "acknowledged", &statistics.acknowledged, JSONInteger.self)
    try visitor.field(4, "collapsed", &statistics.collapsed, JSONInteger.self)
    try visitor.field(5, "expired", &statistics.expired, JSONInteger.self)
    try visitor.field(6, "discarded", &statistics.discarded, JSONInteger.self)
  }
}

/// A message has its JSON in the seam.
private enum MessageKind: JSONKind {
  static func write(_ value: PushMessage, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    try writer.write(.object(value.jsonObject))
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> PushMessage {
    guard let object = json.object else { throw reader.malformed("this is no message") }
    do { return try PushMessage(object) } catch { throw reader.malformed(error.message) }
  }
}

/// Whether the priority of a delivery is high.
private enum PriorityKind: JSONKind {
  static func write(_ value: Bool, to writer: inout ProtobufJSONWriter) throws(BytesError) {
    writer.write(string: value ? "high" : "normal")
  }

  static func read(_ json: JSONValue, _ reader: ProtobufJSONReader) throws(BytesError) -> Bool { json == "high" }
}
