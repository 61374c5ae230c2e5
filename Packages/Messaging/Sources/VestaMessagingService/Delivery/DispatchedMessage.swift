import VestaMessagingBackend

/// A message on its way to the connections.
struct DispatchedMessage: Sendable {
  enum Audience: Sendable {
    case registration(RegistrationKey)
    case topic(String)
    case condition(TopicCondition)
  }

  var number: Int64
  var record: MessageRecord
  var message: PushMessage
  var audience: Audience

  /// The delivery settings of the message on a platform.
  func settings(on platform: String) -> DeliverySettings {
    DeliverySettings(message, platform: platform, now: Double(record.sentTime) / 1_000_000)
  }

  /// Whether the message is immediate (time to live 0) on a platform.
  func isInstant(on platform: String) -> Bool { settings(on: platform).timeToLive <= 0 }

  /// The message as it arrives on a platform.
  func delivery(platform: String, senderID: String) -> PushDelivery {
    let from =
      if case .topic(let topic) = message.target { "/topics/\(topic)" } else { senderID }
    return PushDelivery(
      messageID: Tokens.messageID(number, sentTime: record.sentTime), message: message, from: from,
      sentTime: record.sentTime, settings: settings(on: platform))
  }

  /// A message of the store; `nil` for a note that is no message, and for a message that cannot be read.
  init?(number: Int64, record: MessageRecord) {
    guard record.kind != .subscriptionChange, let message = try? PushMessage(json: record.json) else { return nil }
    self.number = number
    self.record = record
    self.message = message
    switch message.target {
    case .topic(let topic): audience = .topic(topic)
    case .condition(let text):
      guard let condition = try? TopicCondition(text) else { return nil }
      audience = .condition(condition)
    case .token, .installation: audience = .registration(record.registration)
    }
  }
}
