import Testing
import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop

@Suite struct MessageTests {
  private func read(_ json: String) throws -> PushMessage { try PushMessage(json: Array(json.utf8)) }

  @Test func `a message is read in camel case and in snake case and written without a loss`() throws {
    let message = try read(
      """
      {"topic": "/topics/news", "data": {"a": "b"}, "notification": {"title": "T", "body": "B"},
       "android": {"collapseKey": "k", "ttl": "3.5s", "priority": "HIGH", "notification": {"color": "#1a2B3c"}},
       "apns": {"headers": {"apns-priority": "5"}, "payload": {"aps": {"badge": 1}, "x": [1]}},
       "webpush": {"headers": {"TTL": "60"}, "fcm_options": {"link": "https://example.com"}},
       "fcmOptions": {"analyticsLabel": "spring"}}
      """)
    #expect(message.target == .topic("news") && message.data == ["a": "b"] && message.notification?.title == "T")
    #expect(message.android?["collapse_key"] == .string("k"))
    #expect(try PushMessage(json: message.json) == message)
    let android = DeliverySettings(message, platform: "android", now: 0)
    #expect(android.timeToLive == 3.5 && android.isHighPriority && android.collapseKey == "k")
    let apple = DeliverySettings(message, platform: "ios", now: 0)
    #expect(apple.timeToLive == DeliverySettings.maximumTimeToLive && !apple.isHighPriority)
    #expect(DeliverySettings(message, platform: "web", now: 0).timeToLive == 60)
  }

  @Test(arguments: [
    ("{}", "message"), ("{\"token\":\"a\",\"topic\":\"b\"}", "message"), ("{\"token\":\"\"}", "message.token"),
    ("{\"topic\":\"a b\"}", "message.topic"), ("{\"condition\":\"'a' in topic\"}", "message.condition"),
    ("{\"token\":\"a\",\"data\":{\"a\":1}}", "message.data.a"),
    ("{\"token\":\"a\",\"data\":{\"from\":\"x\"}}", "message.data.from"),
    ("{\"token\":\"a\",\"android\":{\"ttl\":\"2419201s\"}}", "message.android.ttl"),
    ("{\"token\":\"a\",\"android\":{\"ttl\":\"5\"}}", "message.android.ttl"),
    ("{\"token\":\"a\",\"android\":{\"priority\":\"URGENT\"}}", "message.android.priority"),
    ("{\"token\":\"a\",\"android\":{\"notification\":{\"color\":\"red\"}}}", "message.android.notification.color"),
    (
      "{\"token\":\"a\",\"android\":{\"notification\":{\"event_time\":\"TZ\"}}}",
      "message.android.notification.event_time"
    ),
    (
      "{\"token\":\"a\",\"android\":{\"notification\":{\"event_time\":\"2026-02-30T00:00:00Z\"}}}",
      "message.android.notification.event_time"
    ),
    (
      "{\"token\":\"a\",\"android\":{\"notification\":{\"title_loc_args\":[1]}}}",
      "message.android.notification.title_loc_args[0]"
    ),
    ("{\"token\":\"a\",\"apns\":{\"payload\":{\"aps\":5}}}", "message.apns.payload.aps"),
    ("{\"token\":\"a\",\"text\":\"x\"}", "message.text"),
    ("{\"token\":\"a\",\"notification\":5}", "message.notification"),
    ("{\"token\":\"a\",\"fcm_options\":{\"analytics_label\":\"a b\"}}", "message.fcm_options.analytics_label"),
    ("[]", "message"),
    ("{\"token\":\"a\",\"android\":{\"collapse_key\":\"a\",\"collapseKey\":\"b\"}}", "message.android.collapseKey"),
  ])
  func `a wrong message is refused with the field that is wrong`(json: String, field: String) {
    let error = #expect(throws: MessagingServiceError.self) { try read(json) }
    #expect(error?.field == field && error?.code == .invalidArgument, "\(error?.message ?? "")")
  }

  @Test func `a message to a topic may be half as big as one to a registration`() throws {
    let text = String(repeating: "a", count: 3000)
    _ = try PushMessage(to: .token("t"), data: ["k": text]).checked()
    #expect(throws: MessagingServiceError.self) { try PushMessage(to: .topic("t"), data: ["k": text]).checked() }
  }

  @Test(arguments: [
    ("'a' in topics", true), ("'b' in topics", false), ("!('b' in topics)", true),
    ("'a' in topics && 'b' in topics", false),
    ("'b' in topics || 'a' in topics && 'c' in topics", true),
    ("('b' in topics || 'a' in topics) && !'c' in topics", false),
    ("'a' in topics || 'c' in topics && 'b' in topics", false),
    ("'a' in topics || ('c' in topics && 'b' in topics)", true),
    ("'b' in topics && 'b' in topics || 'a' in topics", true),
    ("\"a\" in topics", true), ("!!('a' in topics)", true),
  ])
  func `a condition holds or does not`(text: String, expected: Bool) throws {
    #expect(try TopicCondition(text).holds(for: ["a", "c"]) == expected)
  }

  @Test(arguments: [
    ("", 1), ("a in topics", 1), ("'a' in topic", 8), ("'a' in topics &&", 17), ("('a' in topics", 15),
    ("'a' in topics)", 14), ("'a' in topics 'b' in topics", 15), ("'a", 1),
    ("'a' intopics", 7),
  ])
  func `a wrong condition is refused with the character`(text: String, column: Int) {
    let error = #expect(throws: TopicCondition.SyntaxError.self) { try TopicCondition(text) }
    #expect(error?.column == column)
  }

  @Test func `a condition has at most five topics and thirty levels`() throws {
    let terms = (1...6).map { "'t\($0)' in topics" }
    _ = try TopicCondition(terms.prefix(5).joined(separator: " || "))
    #expect(throws: TopicCondition.SyntaxError.self) { try TopicCondition(terms.joined(separator: " || ")) }
    let deep = String(repeating: "(", count: 3000) + "'a' in topics" + String(repeating: ")", count: 3000)
    #expect(throws: TopicCondition.SyntaxError.self) { try TopicCondition(deep) }
    #expect(throws: TopicCondition.SyntaxError.self) { try TopicCondition(String(repeating: "!", count: 2000)) }
  }
}
