public import Foundation
import VestaBytes
import VestaMessagingBackend

/// A message that has arrived.
public final class MessagingRemoteMessage: NSObject, Sendable {
  /// The id of the message: one that is delivered again has the same one.
  public let messageID: String
  /// The data for the app.
  public let data: [String: String]
  /// The title to show.
  public let title: String?
  /// The text to show.
  public let body: String?
  /// The address of a picture to show.
  public let imageURL: String?
  /// The sender's id, or `/topics/name`.
  public let from: String
  /// The time at which the service accepted the message.
  public let sentTime: Date
  /// The key by which later messages replace this one.
  public let collapseKey: String?
  /// Whether the message has high priority.
  public let isHighPriority: Bool

  init(_ delivery: PushDelivery) {
    messageID = delivery.messageID
    data = delivery.message.data
    title = delivery.message.notification?.title
    body = delivery.message.notification?.body
    imageURL = delivery.message.notification?.image
    from = delivery.from
    sentTime = Date(timeIntervalSince1970: Double(delivery.sentTime) / 1_000_000)
    collapseKey = delivery.settings.collapseKey
    isHighPriority = delivery.settings.isHighPriority
  }

  /// The message in the form in which the system hands it to an app, for
  /// ``Messaging/appDidReceiveMessage(_:)``.
  public var appData: [AnyHashable: Any] {
    var fields: [AnyHashable: Any] = data
    fields["gcm.message_id"] = messageID
    fields["from"] = from
    var alert: [String: String] = [:]
    alert["title"] = title
    alert["body"] = body
    if !alert.isEmpty { fields["aps"] = ["alert": alert] }
    return fields
  }

  /// The id and the sender.
  public override var description: String { "<MessagingRemoteMessage: \(messageID) from \(from)>" }
}

/// The status of a message that was handed to ``Messaging/appDidReceiveMessage(_:)``.
public final class MessagingMessageInfo: NSObject, Sendable {
  /// Whether it is new.
  public let status: MessagingMessageStatus

  init(_ status: MessagingMessageStatus) { self.status = status }
}

/// Whether a message is new.
public enum MessagingMessageStatus: Int, Sendable {
  /// The status is unknown.
  case unknown = 0
  /// It is new.
  case new = 1
}
