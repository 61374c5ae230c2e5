/// A message as it arrives at a registration.
public struct PushDelivery: Sendable, Hashable {
  /// The id of the message: a message that is delivered again has the same one.
  public var messageID: String
  /// The message.
  public var message: PushMessage
  /// The sender: `/topics/name` for a message to a topic, the sender's id for others.
  public var from: String
  /// The time at which the service accepted the message, in microseconds since 1970.
  public var sentTime: Int64
  /// The settings of the delivery on the platform of the registration.
  public var settings: DeliverySettings
  /// The number of messages for this registration that were dropped since an earlier delivery said so, because too many
  /// waited.
  public var droppedBefore: Int

  /// A delivery.
  public init(
    messageID: String, message: PushMessage, from: String, sentTime: Int64, settings: DeliverySettings,
    droppedBefore: Int = 0
  ) {
    self.messageID = messageID
    self.message = message
    self.from = from
    self.sentTime = sentTime
    self.settings = settings
    self.droppedBefore = droppedBefore
  }
}

/// The request of an installation to be registered.
public struct RegisterRequest: Sendable, Hashable {
  /// The id of the installation.
  public var installationID: String
  /// The sender whose messages it wants; `nil` for the project.
  public var senderID: String?
  /// The platform: `ios`, `android`, `web`, `linux`, ...
  public var platform: String
  /// The id of the app.
  public var appID: String
  /// The address for a transport such as APNs; `nil` when it is reached over its connection alone.
  public var pushAddress: PushAddress?
  /// The token that it has; it is kept as long as it is valid.
  public var currentToken: String?

  /// A request.
  public init(
    installationID: String, senderID: String? = nil, platform: String, appID: String, pushAddress: PushAddress? = nil,
    currentToken: String? = nil
  ) {
    self.installationID = installationID
    self.senderID = senderID
    self.platform = platform
    self.appID = appID
    self.pushAddress = pushAddress
    self.currentToken = currentToken
  }
}

/// A registration as the owner sees it.
public struct RegistrationInfo: Sendable, Hashable {
  /// The id of the installation.
  public var installationID: String
  /// The platform.
  public var platform: String
  /// The id of the app.
  public var appID: String
  /// The time of the registration, in microseconds since 1970.
  public var createTime: Int64
  /// The time at which it was last seen, in microseconds since 1970.
  public var lastSeenTime: Int64
  /// The topics that it is subscribed to, in order.
  public var topics: [String]

  /// Information.
  public init(
    installationID: String, platform: String, appID: String, createTime: Int64, lastSeenTime: Int64, topics: [String]
  ) {
    self.installationID = installationID
    self.platform = platform
    self.appID = appID
    self.createTime = createTime
    self.lastSeenTime = lastSeenTime
    self.topics = topics
  }
}

/// A message in the outbox.
public struct OutboxMessage: Sendable, Hashable {
  /// The id of the message.
  public var messageID: String
  /// The message.
  public var message: PushMessage
  /// The time at which the service accepted it, in microseconds since 1970.
  public var sentTime: Int64
  /// Until when it waits, in microseconds since 1970.
  public var expiryTime: Int64
  /// Whether a message to one registration still waits for its acknowledgement; `nil` for one to a topic or condition.
  public var isWaiting: Bool?

  /// A message in the outbox.
  public init(messageID: String, message: PushMessage, sentTime: Int64, expiryTime: Int64, isWaiting: Bool?) {
    self.messageID = messageID
    self.message = message
    self.sentTime = sentTime
    self.expiryTime = expiryTime
    self.isWaiting = isWaiting
  }
}

/// One page of the outbox, the newest messages first.
public struct OutboxPage: Sendable, Hashable {
  /// The messages.
  public var messages: [OutboxMessage]
  /// The start of the next page; `nil` after the last one.
  public var nextPageToken: String?

  /// A page.
  public init(messages: [OutboxMessage], nextPageToken: String? = nil) {
    self.messages = messages
    self.nextPageToken = nextPageToken
  }
}

/// The numbers of accepted, delivered, acknowledged and removed messages since the service first ran.
public struct DeliveryStatistics: Sendable, Hashable {
  /// The messages that were accepted.
  public var accepted: Int64 = 0
  /// The deliveries to connected registrations, including deliveries of the same message.
  public var delivered: Int64 = 0
  /// The deliveries that were acknowledged.
  public var acknowledged: Int64 = 0
  /// The messages that waited and were replaced by a later one with the same collapse key.
  public var collapsed: Int64 = 0
  /// The messages that waited for one registration until their time was over.
  public var expired: Int64 = 0
  /// The messages that were dropped because too many waited for a registration: a message to a topic once for each
  /// registration that it was dropped for, and none that was acknowledged.
  public var discarded: Int64 = 0

  /// Statistics of a service that has accepted no message.
  public init() {}
}
