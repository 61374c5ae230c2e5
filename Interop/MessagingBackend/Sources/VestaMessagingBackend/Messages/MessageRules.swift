import VestaBytes

/// The rules of a message that no single field shows.
enum MessageRules {
  static let maximumPayload = 4096
  static let maximumTopicPayload = 2048

  static func check(_ message: PushMessage) throws(MessagingServiceError) {
    try check(data: message.data, at: "message.data")
    try check(data: strings(message.android?["data"]), at: "message.android.data")
    try check(data: strings(message.webpush?["data"]), at: "message.webpush.data")
    try check(label: message.fcmOptions, at: "message.fcm_options")
    try check(label: message.android?["fcm_options"]?.object, at: "message.android.fcm_options")
    if case .condition(let text) = message.target {
      do {
        _ = try TopicCondition(text)
      } catch {
        throw .invalid("message.condition", "\(error.message) (at character \(error.column))")
      }
    }
    if let apns = message.apns?["payload"]?.object, let aps = apns["aps"], aps.object == nil {
      throw .invalid("message.apns.payload.aps", "Expected an object.")
    }
    try checkSize(message)
  }

  private static func check(data: [String: String], at path: String) throws(MessagingServiceError) {
    for key in data.keys.sorted() {
      let isReserved =
        ["from", "message_type", "collapse_key"].contains(key) || key.hasPrefix("google") || key.hasPrefix("gcm")
      if key.isEmpty { throw .invalid(path, "A key must not be empty.") }
      if isReserved { throw .invalid("\(path).\(key)", "This key is reserved. Use another one.") }
    }
  }

  private static func check(label options: JSONObject?, at path: String) throws(MessagingServiceError) {
    guard let label = options?["analytics_label"]?.string else { return }
    let isValid =
      (1...50).contains(label.utf8.count)
      && label.utf8.allSatisfy { byte in
        TopicName.isValid(String(Character(Unicode.Scalar(byte)))) && byte < 128
      }
    guard isValid else {
      throw .invalid("\(path).analytics_label", "A label has 1 to 50 letters, digits and the characters - _ . ~ %")
    }
  }

  /// Counts the part that arrives at the app: data and notification, with the overrides of a platform.
  private static func checkSize(_ message: PushMessage) throws(MessagingServiceError) {
    var common = message
    (common.android, common.apns, common.webpush, common.fcmOptions) = (nil, nil, nil, nil)
    common.target = .token("")
    let isBroadcast =
      switch message.target {
      case .topic, .condition: true
      case .token, .installation: false
      }
    let maximum = isBroadcast ? maximumTopicPayload : maximumPayload
    let size = common.json.count - Array("{\"token\":\"\"}".utf8).count
    let platform = [message.android, message.apns, message.webpush].map { (try? $0?.json().count) ?? 0 }.max() ?? 0
    guard size + platform <= maximum else {
      throw .invalid("message", "The message is too big: \(size + platform) bytes of at most \(maximum).")
    }
  }

  private static func strings(_ value: JSONValue?) -> [String: String] {
    let members = value?.object?.members ?? []
    return Dictionary(members.map { ($0.name, $0.value.string ?? "") }) { first, _ in first }
  }
}
