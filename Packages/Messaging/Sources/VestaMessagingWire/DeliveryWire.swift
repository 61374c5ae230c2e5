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
    (try? RequestSchema.json(of: RequestParts(token: request.token, messageIDs: request.messageIDs))) ?? []
  }

  /// Reads the body of a request.
  ///
  /// - Throws: `MessagingServiceError` with the field that is wrong.
  public static func request(_ body: [UInt8]) throws(MessagingServiceError) -> Request {
    let parts: RequestParts
    do {
      parts = try RequestSchema.message(json: body, limits: limits, ignoresUnknownNames: true)
    } catch {
      throw .invalid("body", "\(error)")
    }
    guard let token = parts.token else { throw .invalid("token", "It is missing.") }
    return Request(token: token, messageIDs: parts.messageIDs)
  }

  // MARK: Deliveries

  /// A delivery as the data of an event.
  public static func json(of delivery: PushDelivery) -> [UInt8] {
    let parts = DeliveryParts(
      messageID: delivery.messageID, from: delivery.from, sentTime: delivery.sentTime, message: delivery.message,
      timeToLive: delivery.settings.timeToLive, isHighPriority: delivery.settings.isHighPriority,
      collapseKey: delivery.settings.collapseKey,
      droppedBefore: delivery.droppedBefore > 0 ? Int64(delivery.droppedBefore) : nil)
    return (try? DeliverySchema.json(of: parts)) ?? []
  }

  /// Reads a delivery.
  ///
  /// - Throws: `MessagingServiceError` for the data of an event that is no delivery.
  public static func delivery(_ data: [UInt8]) throws(MessagingServiceError) -> PushDelivery {
    let parts: DeliveryParts
    do {
      parts = try DeliverySchema.message(json: data, limits: limits, ignoresUnknownNames: true)
    } catch {
      throw .invalid("delivery", "\(error)")
    }
    guard let id = parts.messageID, let from = parts.from, let time = parts.sentTime, let message = parts.message else {
      throw .invalid("delivery", "It has no messageId, from, sentTime or message.")
    }
    var settings = DeliverySettings(message, platform: "", now: 0)
    settings.timeToLive = parts.timeToLive ?? settings.timeToLive
    settings.isHighPriority = parts.isHighPriority
    settings.collapseKey = parts.collapseKey
    let dropped = parts.droppedBefore.flatMap { Int(exactly: $0) } ?? 0
    return PushDelivery(
      messageID: id, message: message, from: from, sentTime: time, settings: settings, droppedBefore: max(0, dropped))
  }

  // MARK: The list of sent messages

  /// A page of sent messages.
  public static func body(of page: OutboxPage, project: String) -> [UInt8] {
    let messages = page.messages.map { sent in
      SentParts(
        name: "projects/\(project)/messages/\(sent.messageID)", sentTime: sent.sentTime, expiryTime: sent.expiryTime,
        message: sent.message, isWaiting: sent.isWaiting)
    }
    return (try? OutboxSchema.json(of: OutboxParts(messages: messages, nextPageToken: page.nextPageToken))) ?? []
  }

  /// Reads a page of sent messages.
  public static func outbox(_ body: [UInt8]) throws(BytesError) -> OutboxPage {
    let parts = try OutboxSchema.message(json: body, limits: pageLimits, ignoresUnknownNames: true)
    var messages: [OutboxMessage] = []
    for sent in parts.messages {
      guard let id = sent.name.parts(at: "/", omittingEmpty: true).last, let sentTime = sent.sentTime,
        let expiryTime = sent.expiryTime, let message = sent.message
      else { throw BytesError(.malformed, "an entry is no sent message") }
      messages.append(
        OutboxMessage(
          messageID: String(id), message: message, sentTime: sentTime, expiryTime: expiryTime,
          isWaiting: sent.isWaiting))
    }
    return OutboxPage(messages: messages, nextPageToken: parts.nextPageToken)
  }

  /// The bounds of a page: a thousand messages.
  private static let pageLimits = JSONLimits(maximumDepth: 48, maximumSize: 16 << 20)

  // MARK: Statistics

  /// The statistics of the service.
  public static func body(of statistics: DeliveryStatistics) -> [UInt8] {
    (try? StatisticsSchema.json(of: statistics)) ?? []
  }

  /// Reads the statistics of the service; a number that is missing is zero.
  public static func statistics(_ body: [UInt8]) throws(BytesError) -> DeliveryStatistics {
    try StatisticsSchema.message(json: body, limits: limits, ignoresUnknownNames: true)
  }
}
