import VestaBytes
public import VestaMessagingBackend

/// The JSON that the service worker of the web SDK reads.
public enum WebPushPayload {
  /// The payload of a delivery.
  ///
  /// The overrides for the web count as in FCM's v1 API: members of a notification replace members of the same name,
  /// and data replaces the data of the message as a whole.
  public static func json(of delivery: PushDelivery) -> [UInt8] {
    let message = delivery.message
    var object = JSONObject()
    let notification = notification(of: message)
    if notification.count > 0 { object["notification"] = .object(notification) }
    object["data"] = data(of: message).map(JSONValue.object)
    let options = message.webpush?["fcm_options"]?.object
    var chosen = JSONObject()
    chosen["link"] = options?["link"]
    chosen["analytics_label"] = options?["analytics_label"] ?? message.fcmOptions?["analytics_label"]
    if chosen.count > 0 { object["fcmOptions"] = .object(chosen) }
    object["from"] = .string(delivery.from)
    object["fcmMessageId"] = .string(delivery.messageID)
    object["collapse_key"] = delivery.settings.collapseKey.map(JSONValue.string)
    object["priority"] = delivery.settings.isHighPriority ? "high" : "normal"
    return (try? object.json()) ?? Array("{}".utf8)
  }

  private static func data(of message: PushMessage) -> JSONObject? {
    if let data = message.webpush?["data"]?.object { return data }
    guard !message.data.isEmpty else { return nil }
    var data = JSONObject()
    for (key, value) in message.data.sorted(by: { $0.key < $1.key }) { data[key] = .string(value) }
    return data
  }

  private static func notification(of message: PushMessage) -> JSONObject {
    var object = JSONObject()
    object["title"] = message.notification?.title.map(JSONValue.string)
    object["body"] = message.notification?.body.map(JSONValue.string)
    object["image"] = message.notification?.image.map(JSONValue.string)
    if let overrides = message.webpush?["notification"]?.object {
      for name in overrides.names { object[name] = overrides[name] }
    }
    return object
  }
}
