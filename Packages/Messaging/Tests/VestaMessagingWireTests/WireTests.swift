import Testing
import VestaBytes
import VestaMessagingBackend
import VestaServiceInterop
import VestaTesting

@testable import VestaMessagingWire

private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

extension SplitMix {
  fileprivate mutating func message() -> PushMessage {
    let target: PushMessage.Target = pick([
      .token("i:0123456789012345678901"), .topic("news-1"), .condition("'a' in topics"), .installation("fid"),
    ])
    var message = PushMessage(to: target, data: oneIn(2) ? [:] : ["a": "é", "b": ""])
    if oneIn(2) { message.notification = PushNotification(title: "t", body: oneIn(2) ? nil : "b") }
    if oneIn(2) { message.android = ["priority": "HIGH", "ttl": "3.5s"] }
    if oneIn(2) { message.apns = ["headers": ["apns-priority": "5"], "payload": ["aps": ["badge": 1]]] }
    if oneIn(2) { message.webpush = ["headers": ["TTL": "60"]] }
    return message
  }

  fileprivate mutating func damaged(_ bytes: [UInt8]) -> [UInt8] {
    var bytes = bytes
    for _ in 0...below(3) where !bytes.isEmpty {
      let index = below(bytes.count)
      switch below(3) {
      case 0: bytes[index] = UInt8(below(256))
      case 1: bytes.remove(at: index)
      default: bytes.insert(contentsOf: pick([utf8("{"), utf8("null"), utf8("[[[["), utf8("\"\u{0}")]), at: index)
      }
    }
    return bytes
  }
}

@Suite struct MessagingWireTests {
  @Test func `messages and deliveries are read as they are written`() throws {
    var random = SplitMix(seed: 11)
    for _ in 0..<2_000 {
      let message = random.message()
      let request = SendWire.Request(message, isValidateOnly: random.oneIn(2))
      #expect(try SendWire.request(SendWire.body(of: request)) == request)
      let delivery = PushDelivery(
        messageID: "7", message: message, from: "/topics/a", sentTime: .max,
        settings: DeliverySettings(message, platform: random.pick(["ios", "web", "linux"]), now: 5),
        droppedBefore: random.below(3))
      #expect(try DeliveryWire.delivery(DeliveryWire.json(of: delivery)) == delivery)
    }
  }

  @Test func `a delivery has the members that it needs, and the number of lost ones where there are any`() throws {
    var settings = DeliverySettings(PushMessage(to: .topic("a")), platform: "", now: 0)
    (settings.timeToLive, settings.isHighPriority, settings.collapseKey) = (60, false, nil)
    var delivery = PushDelivery(
      messageID: "7", message: PushMessage(to: .topic("a")), from: "f", sentTime: 5, settings: settings,
      droppedBefore: 0)
    #expect(
      String(decoding: DeliveryWire.json(of: delivery), as: UTF8.self)
        == #"{"messageId":"7","from":"f","sentTime":"5","message":{"topic":"a"},"ttl":60,"priority":"normal"}"#)
    (delivery.droppedBefore, delivery.settings.collapseKey, delivery.settings.isHighPriority) = (2, "c", true)
    let text = String(decoding: DeliveryWire.json(of: delivery), as: UTF8.self)
    #expect(text.hasSuffix(#""ttl":60,"priority":"high","collapseKey":"c","droppedBefore":2}"#))
  }

  @Test func `requests are read as they are written`() throws {
    let topic = TopicWire.Request(topic: "a%20b", tokens: ["x", "y"])
    #expect(try TopicWire.request(TopicWire.body(of: topic)) == topic)
    let call = DeliveryWire.Request(token: "t", messageIDs: ["1", "2"])
    #expect(try DeliveryWire.request(DeliveryWire.body(of: call)) == call)
    let name = "projects/p/messages/1"
    #expect(try SendWire.name(SendWire.body(ofName: name)) == name)
    let answer = RegistrationWire.body(token: "i:t", installationID: "i", project: "p")
    #expect(try RegistrationWire.token(answer) == "i:t")
    #expect(try RegistrationWire.token(utf8(#"{"name":"projects/p/registrations/fid"}"#)) == "fid")
    for wrong in ["{}", #"{"name":"projects/p/registrations/"}"#, #"{"name":7}"#, "[]"] {
      #expect(throws: BytesError.self) { try RegistrationWire.token(utf8(wrong)) }
    }
    #expect(String(decoding: answer, as: UTF8.self) == #"{"name":"projects/p/registrations/i","token":"i:t"}"#)
  }

  @Test func `what the owner is told is read as it is written, and in Firebase's form`() throws {
    let info = RegistrationInfo(
      installationID: "i", platform: "Linux", appID: "a", createTime: 5, lastSeenTime: .max, topics: ["a", "é"])
    let read = try RegistrationWire.info(RegistrationWire.body(of: info, token: "i:t", senderID: "p"), of: "i")
    #expect(read.0 == info && read.token == "i:t")
    let bare = #"{"application":"com.example","platform":"ANDROID","rel":{"topics":{"b":{"addDate":"2026-01-01"}}}}"#
    let known = try RegistrationWire.info(utf8(bare), of: "fid:APA91b")
    #expect(known.token == nil && known.0.topics == ["b"] && known.0.platform == "android")
    #expect(known.0.installationID == "fid" && known.0.createTime == 0)

    let results: [MessagingServiceError?] = [nil, .unregistered, MessagingServiceError(.unavailable, "later")]
    let codes = try TopicWire.results(TopicWire.body(of: results), of: 3).map { $0?.code }
    #expect(codes == [nil, .notFound, .unavailable])
    #expect(throws: BytesError.self) { try TopicWire.results(TopicWire.body(of: results), of: 2) }

    var random = SplitMix(seed: 13)
    let messages = (0..<100).map { number in
      OutboxMessage(
        messageID: "\(number)", message: random.message(), sentTime: Int64(number) * 1_234_567, expiryTime: 1 << 50,
        isWaiting: random.pick([nil, true, false]))
    }
    let page = OutboxPage(messages: messages, nextPageToken: "7")
    #expect(try DeliveryWire.outbox(DeliveryWire.body(of: page, project: "p")) == page)
    var statistics = DeliveryStatistics()
    (statistics.accepted, statistics.delivered, statistics.acknowledged) = (1, 2, 3)
    (statistics.collapsed, statistics.expired, statistics.discarded) = (4, 5, .max)
    #expect(try DeliveryWire.statistics(DeliveryWire.body(of: statistics)) == statistics)
    #expect(try DeliveryWire.statistics(utf8("{}")) == DeliveryStatistics())
    #expect(throws: BytesError.self) { try DeliveryWire.statistics(utf8(#"{"accepted":1.5}"#)) }
  }

  @Test func `what a delivery, a sent message or a request needs is missed, and the rest is not`() throws {
    let message = #"{"topic":"a"}"#
    let whole = #"{"messageId":"7","from":"f","sentTime":"5","message":\#(message)}"#
    let read = try DeliveryWire.delivery(utf8(whole))
    #expect(read.messageID == "7" && read.from == "f" && read.sentTime == 5 && read.droppedBefore == 0)
    #expect(read.settings.timeToLive == DeliverySettings(read.message, platform: "", now: 0).timeToLive)
    #expect(!read.settings.isHighPriority && read.settings.collapseKey == nil)
    for part in [#""messageId":"7","#, #""from":"f","#, #""sentTime":"5","#] {
      #expect(throws: MessagingServiceError.self) {
        try DeliveryWire.delivery(utf8(whole.replacing(part, with: "")))
      }
    }
    for wrong in [#"{"messageId":"7","from":"f","sentTime":"5"}"#, whole.replacing(message, with: "7"), "[]", ""] {
      #expect(throws: MessagingServiceError.self) { try DeliveryWire.delivery(utf8(wrong)) }
    }
    let negative = whole.replacing(#""from""#, with: #""droppedBefore":-3,"from""#)
    #expect(try DeliveryWire.delivery(utf8(negative)).droppedBefore == 0)

    let time = "1970-01-01T00:00:01Z"
    let sent = #"{"name":"projects/p/messages/7","sendTime":"\#(time)","expireTime":"\#(time)","message":\#(message)}"#
    let page = try DeliveryWire.outbox(utf8(#"{"messages":[\#(sent)]}"#))
    #expect(page.messages.map(\.messageID) == ["7"] && page.messages[0].isWaiting == nil && page.nextPageToken == nil)
    for part in [#""name":"projects/p/messages/7","#, #""sendTime":"\#(time)","#, #""expireTime":"\#(time)","#] {
      #expect(throws: BytesError.self) {
        try DeliveryWire.outbox(utf8(#"{"messages":[\#(sent.replacing(part, with: ""))]}"#))
      }
    }
    #expect(try DeliveryWire.outbox(utf8("{}")).messages.isEmpty)

    #expect(try DeliveryWire.request(utf8(#"{"token":"t"}"#)) == DeliveryWire.Request(token: "t"))
    for wrong in ["{}", #"{"token":7}"#, #"{"token":"t","messageIds":[7]}"#, #"{"token":"t","messageIds":"7"}"#] {
      #expect(throws: MessagingServiceError.self) { try DeliveryWire.request(utf8(wrong)) }
    }
  }

  @Test func `addresses of browsers and devices become text and back`() throws {
    let web = PushAddress.webPush(
      WebPushAddress(endpoint: "https://push.example/é", auth: "a", p256dh: "p", applicationKey: "k", origin: "o"))
    let device = PushAddress.apns(APNsAddress(token: "00ff", isSandbox: true, bundleID: "com.example"))
    for (platform, address) in [("web", web), ("ios", device)] {
      #expect(PushAddress(text: address.text) == address)
      let body = RegistrationWire.body(platform: platform, address: address)
      let request = try RegistrationWire.registration(body, installationID: "i", appID: "a").request
      #expect(request.platform == platform && request.pushAddress == address)
    }
    #expect(PushAddress(text: "anything") == .other("anything"))
    for body in ["{}", #"{"web":{}}"#, #"{"ios":{"apns_token":""}}"#, #"{"web":{},"ios":{}}"#, "[]", ""] {
      #expect(throws: MessagingServiceError.self) {
        try RegistrationWire.registration(utf8(body), installationID: "i", appID: "a")
      }
    }
  }

  @Test func `routes are read as they are written, and in upstream's other forms`() throws {
    let calls: [MessagingRoute.Call] = [
      .send, .register, .renew("i:t"), .unregister("i"), .subscribe("i:t", topic: "a%b"),
      .unsubscribe("i", topic: "é"), .outbox(pageSize: 5, pageToken: "7"), .connect, .acknowledge,
      .statistics,
    ]
    for call in calls {
      let route = MessagingRoute(project: "p q", call)
      #expect(try MessagingRoute(method: route.method, target: route.target) == route)
    }
    for call in [MessagingRoute.Call.subscribeMany, .unsubscribeMany, .info("i:t/é")] {
      let route = MessagingRoute(project: nil, call)
      #expect(try MessagingRoute(method: route.method, target: route.target) == route)
    }
    let apple = "/v1/projects/p/registrations/f/topicSubscriptions/a%25b"
    #expect(try MessagingRoute(method: "POST", target: apple + ":subscribe")?.call == .subscribe("f", topic: "a%b"))
    #expect(try MessagingRoute(method: "POST", target: apple + ":unsubscribe")?.call == .unsubscribe("f", topic: "a%b"))
    for target in ["/v1/projects/p/messages", "/v1/projects/p/remoteConfig", "/iid/v2:x", "/", "/v1/projects/p"] {
      #expect(try MessagingRoute(method: "POST", target: target) == nil, "\(target)")
    }
  }

  @Test func `a failure says its code, its reason and its field, and is read back`() throws {
    let error = MessagingServiceError.invalid("message.android.ttl", "no")
    let text = String(decoding: MessagingErrorWire.body(of: error), as: UTF8.self)
    #expect(
      text.contains(#""@type":"type.googleapis.com/google.firebase.fcm.v1.FcmError","errorCode":"INVALID_ARGUMENT""#))
    for error in [error, .unregistered, MessagingServiceError(.unavailable, "later")] {
      let read = MessagingErrorWire.error(
        status: error.code.httpStatus, body: MessagingErrorWire.body(of: error))
      #expect(read.code == error.code && read.reason == error.reason && read.field == error.field)
    }
    // A caller that may not call has no failure of a push service.
    let refused = MessagingErrorWire.body(of: MessagingServiceError(.unauthenticated, "who?"))
    #expect(!String(decoding: refused, as: UTF8.self).contains("FcmError"))
  }

  @Test func `damaged bodies and targets are read or refused`() {
    var random = SplitMix(seed: 12)
    for _ in 0..<20_000 {
      let delivery = PushDelivery(
        messageID: "7", message: random.message(), from: "1", sentTime: 1,
        settings: DeliverySettings(PushMessage(to: .topic("a")), platform: "", now: 0))
      let body: [UInt8] =
        switch random.below(4) {
        case 0: SendWire.body(of: SendWire.Request(random.message()))
        case 1: TopicWire.body(of: TopicWire.Request(topic: "a", tokens: ["x"]))
        case 2: DeliveryWire.body(of: DeliveryWire.Request(token: "t", messageIDs: ["1"]))
        default: DeliveryWire.json(of: delivery)
        }
      let damaged = random.damaged(body)
      _ = try? SendWire.request(damaged)
      _ = try? TopicWire.request(damaged)
      _ = try? DeliveryWire.request(damaged)
      _ = try? DeliveryWire.delivery(damaged)
      _ = try? DeliveryWire.outbox(damaged)
      _ = try? RegistrationWire.info(damaged, of: "i:t")
      _ = try? TopicWire.results(damaged, of: 1)
      _ = try? RegistrationWire.registration(damaged, installationID: "i", appID: "a")
      _ = MessagingErrorWire.error(status: 400, body: damaged)
      let path = random.damaged(utf8("/v1/projects/p/registrations/i:t/topicSubscriptions?topic_name=a%25"))
      _ = try? MessagingRoute(
        method: random.pick(["GET", "POST", "DELETE"]), target: String(decoding: path, as: UTF8.self))
    }
  }
}
