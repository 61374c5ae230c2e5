public import VestaBytes
public import VestaMessagingBackend

/// The bodies of the calls of Vesta's own clients, the events of their connections, and the list of sent messages.
public enum DeliveryWire {
  /// The bounds of bodies.
  public static let limits = JSONLimits(maximumDepth: 48, maximumSize: 1 << 18)

  /// A request to acknowledge messages; without ids, to connect.
  public struct Request: Sendable, Hashable {
    /// The token of the registration; it is in the body, so that no log of addresses has it.
    public var token: String
    /// The messages that are acknowledged.
    public var messageIDs: [String]

    /// A request.
    public init(token: String, messageIDs: [String] = []) {
      self.token = token
      self.messageIDs = messageIDs
    }
  }

  /// The body of a request.
  public static func body(of request: Request) -> [UInt8] {
    var object: JSONObject = ["token": .string(request.token)]
    if !request.messageIDs.isEmpty { object["messageIds"] = .array(request.messageIDs.map { .string($0) }) }
    return (try? object.json()) ?? []
  }

  /// Reads the body of a request.
  ///
  /// - Throws: `MessagingServiceError` with the field that is wrong.
  public static func request(_ body: [UInt8]) throws(MessagingServiceError) -> Request {
    let object: JSONObject
    do { object = try JSONObject(json: body, limits: limits) } catch { throw .invalid("body", "\(error)") }
    guard let token = object["token"]?.string else { throw .invalid("token", "It is missing.") }
    let list = object["messageIds"]?.array ?? []
    let ids = list.compactMap(\.string)
    guard ids.count == list.count else { throw .invalid("messageIds", "The ids of messages are texts.") }
    return Request(token: token, messageIDs: ids)
  }

  // MARK: Deliveries

  /// A delivery as the data of an event.
  public static func json(of delivery: PushDelivery) -> JSONObject {
    var object: JSONObject = [
      "messageId": .string(delivery.messageID), "from": .string(delivery.from),
      "sentTime": .string("\(delivery.sentTime)"), "message": .object(delivery.message.jsonObject),
      "ttl": .number(delivery.settings.timeToLive), "priority": delivery.settings.isHighPriority ? "high" : "normal",
    ]
    object["collapseKey"] = delivery.settings.collapseKey.map(JSONValue.string)
    if delivery.droppedBefore > 0 { object["droppedBefore"] = .integer(Int64(delivery.droppedBefore)) }
    return object
  }

  /// Reads a delivery.
  ///
  /// - Throws: `MessagingServiceError` for the data of an event that is no delivery.
  public static func delivery(_ data: [UInt8]) throws(MessagingServiceError) -> PushDelivery {
    let object: JSONObject
    do { object = try JSONObject(json: data, limits: limits) } catch { throw .invalid("delivery", "\(error)") }
    guard let id = object["messageId"]?.string, let from = object["from"]?.string,
      let time = object["sentTime"]?.string.flatMap({ Int64($0) }), let message = object["message"]?.object
    else { throw .invalid("delivery", "It has no messageId, from, sentTime or message.") }
    let read = try PushMessage(message)
    var settings = DeliverySettings(read, platform: "", now: 0)
    settings.timeToLive = object["ttl"]?.double ?? settings.timeToLive
    settings.isHighPriority = object["priority"] == "high"
    settings.collapseKey = object["collapseKey"]?.string
    let dropped = object["droppedBefore"]?.integer.flatMap { Int(exactly: $0) } ?? 0
    return PushDelivery(
      messageID: id, message: read, from: from, sentTime: time, settings: settings, droppedBefore: max(0, dropped))
  }

  // MARK: The list of sent messages

  /// A page of sent messages.
  public static func body(of page: OutboxPage, project: String) -> [UInt8] {
    let list = page.messages.map { sent -> JSONValue in
      var object: JSONObject = [
        "name": .string("projects/\(project)/messages/\(sent.messageID)"),
        "sendTime": .string(RFC3339.text(microseconds: sent.sentTime)),
        "expireTime": .string(RFC3339.text(microseconds: sent.expiryTime)),
        "message": .object(sent.message.jsonObject),
      ]
      object["isWaiting"] = sent.isWaiting.map(JSONValue.bool)
      return .object(object)
    }
    var object: JSONObject = ["messages": .array(list)]
    object["nextPageToken"] = page.nextPageToken.map(JSONValue.string)
    return (try? object.json()) ?? []
  }

  /// Reads a page of sent messages.
  public static func outbox(_ body: [UInt8]) throws(BytesError) -> OutboxPage {
    let object = try JSONObject(json: body, limits: pageLimits)
    var messages: [OutboxMessage] = []
    for value in object["messages"]?.array ?? [] {
      guard let sent = value.object, let id = sent["name"]?.string?.split(separator: "/").last,
        let sentTime = sent["sendTime"]?.string.flatMap(RFC3339.microseconds),
        let expiryTime = sent["expireTime"]?.string.flatMap(RFC3339.microseconds),
        let message = sent["message"]?.object.flatMap({ try? PushMessage($0) })
      else { throw BytesError(.malformed, "an entry is no sent message") }
      messages.append(
        OutboxMessage(
          messageID: String(id), message: message, sentTime: sentTime, expiryTime: expiryTime,
          isWaiting: sent["isWaiting"]?.bool))
    }
    return OutboxPage(messages: messages, nextPageToken: object["nextPageToken"]?.string)
  }

  /// The bounds of a page: a thousand messages.
  private static let pageLimits = JSONLimits(maximumDepth: 48, maximumSize: 16 << 20)

  // MARK: Statistics

  /// The statistics of the service.
  public static func body(of statistics: DeliveryStatistics) -> [UInt8] {
    let object: JSONObject = [
      "accepted": .integer(statistics.accepted), "delivered": .integer(statistics.delivered),
      "acknowledged": .integer(statistics.acknowledged), "collapsed": .integer(statistics.collapsed),
      "expired": .integer(statistics.expired), "discarded": .integer(statistics.discarded),
    ]
    return (try? object.json()) ?? []
  }

  /// Reads the statistics of the service.
  public static func statistics(_ body: [UInt8]) throws(BytesError) -> DeliveryStatistics {
    let object = try JSONObject(json: body, limits: limits)
    func number(_ name: String) throws(BytesError) -> Int64 {
      guard let number = object[name]?.integer else { throw BytesError(.malformed, "the number \(name) is missing") }
      return number
    }
    var statistics = DeliveryStatistics()
    statistics.accepted = try number("accepted")
    statistics.delivered = try number("delivered")
    statistics.acknowledged = try number("acknowledged")
    statistics.collapsed = try number("collapsed")
    statistics.expired = try number("expired")
    statistics.discarded = try number("discarded")
    return statistics
  }
}
