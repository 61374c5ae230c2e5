public import VestaBytes

extension PushMessage {
  /// Reads a message in the JSON format of FCM's v1 API: the value of `message` in a request.
  ///
  /// Names in camel case and in snake case are both read.
  ///
  /// - Parameter json: UTF-8.
  /// - Throws: ``MessagingServiceError`` with the field that is wrong.
  public init(json: [UInt8]) throws(MessagingServiceError) {
    let object: JSONObject
    do {
      object = try JSONObject(json: json, limits: JSONLimits(maximumDepth: 32, maximumSize: 1 << 16))
    } catch {
      throw .invalid("message", "\(error)")
    }
    try self.init(object)
  }

  /// Reads and checks a message.
  ///
  /// - Parameter object: The message, with the names of the v1 API.
  /// - Throws: ``MessagingServiceError`` with the field that is wrong.
  public init(_ object: JSONObject) throws(MessagingServiceError) {
    let object = try MessageSchema.message.checked(object, at: "message")
    self.init(
      to: try Self.target(object), notification: object["notification"].flatMap(Self.notification),
      data: Self.strings(object["data"]), android: object["android"]?.object, apns: object["apns"]?.object,
      webpush: object["webpush"]?.object, fcmOptions: object["fcm_options"]?.object)
    try MessageRules.check(self)
  }

  /// The message as JSON, with names in snake case.
  public var jsonObject: JSONObject {
    var object = JSONObject()
    switch target {
    case .token(let token): object["token"] = .string(token)
    case .topic(let topic): object["topic"] = .string(topic)
    case .condition(let condition): object["condition"] = .string(condition)
    case .installation(let id): object["fid"] = .string(id)
    }
    if let notification {
      var fields = JSONObject()
      fields["title"] = notification.title.map(JSONValue.string)
      fields["body"] = notification.body.map(JSONValue.string)
      fields["image"] = notification.image.map(JSONValue.string)
      object["notification"] = .object(fields)
    }
    if !data.isEmpty {
      var fields = JSONObject()
      for (key, value) in data.sorted(by: { $0.key < $1.key }) { fields[key] = .string(value) }
      object["data"] = .object(fields)
    }
    object["android"] = android.map(JSONValue.object)
    object["apns"] = apns.map(JSONValue.object)
    object["webpush"] = webpush.map(JSONValue.object)
    object["fcm_options"] = fcmOptions.map(JSONValue.object)
    return object
  }

  /// The message as JSON.
  public var json: [UInt8] { (try? jsonObject.json()) ?? Array("{}".utf8) }

  /// The same message, checked as one that is read from JSON.
  ///
  /// - Throws: ``MessagingServiceError`` with the field that is wrong.
  public func checked() throws(MessagingServiceError) -> PushMessage { try PushMessage(jsonObject) }

  private static func target(_ object: JSONObject) throws(MessagingServiceError) -> Target {
    let names = ["token", "topic", "condition", "fid"].filter { object[$0] != nil }
    guard names.count == 1, let name = names.first, let text = object[name]?.string else {
      throw .invalid("message", "Exactly one of the target fields token, topic, condition and fid must be set.")
    }
    guard !text.isEmpty else { throw .invalid("message.\(name)", "It must not be empty.") }
    switch name {
    case "token": return .token(text)
    case "topic": return .topic(try TopicName.checked(text, field: "message.topic"))
    case "condition": return .condition(text)
    default: return .installation(text)
    }
  }

  private static func notification(_ value: JSONValue) -> PushNotification? {
    guard let fields = value.object else { return nil }
    return PushNotification(
      title: fields["title"]?.string, body: fields["body"]?.string, image: fields["image"]?.string)
  }

  private static func strings(_ value: JSONValue?) -> [String: String] {
    let members = value?.object?.members ?? []
    return Dictionary(members.compactMap { member in member.value.string.map { (member.name, $0) } }) { first, _ in
      first
    }
  }
}
