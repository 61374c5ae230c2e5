import Testing
import VestaBytes
import VestaCrypto
import VestaCryptoInterop
import VestaMessagingBackend
import VestaMessagingPush
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop

/// Subscriptions that clients make up, and undocumented answers of push services.
@Suite(.timeLimit(.minutes(10))) struct HostileSubscriptionTests {
  private let crypto = OpenSSLCrypto()

  private func field(
    _ push: WebPushTransport, _ service: ScriptedPushService, _ change: (inout WebPushAddress) -> Void
  ) async throws -> String? {
    var address = WebPushAddress(
      endpoint: "https://push.example/1", auth: Base64.url.encode(service.secret),
      p256dh: Base64.url.encode(service.browser.publicPoint), applicationKey: try await push.publicKey())
    change(&address)
    do {
      try await push.check(.webPush(address))
      return nil
    } catch {
      #expect(error.code == .invalidArgument)
      return error.field
    }
  }

  @Test(arguments: [
    "https://127.0.0.1/x", "https://127.1/", "https://2130706433/", "https://0x7f.0.0.1/", "https://0x7f000001/",
    "https://10.0.0.1/", "https://192.168.1.1:8443/", "https://169.254.169.254/latest/meta-data/", "https://[::1]/",
    "https://[::ffff:127.0.0.1]/", "https://[fd00::1]/", "https://0/", "https://8.8.8.8/", "https://8.8.8.8./",
    "https://localhost/", "https://localhost./", "https://LOCALHOST/", "https://a.localhost/", "https://router/",
    "https://db.internal/", "https://db.internal./", "https://metadata.google.internal/", "https://printer.local/",
    "https://nas.home.arpa/", "https://x.test/", "https://a..example/", "https://.example/", "https://a,b.example/",
    "https://push.example%2f@10.0.0.1/", "https://user@push.example/", "https://push.example\\@10.0.0.1/",
    "http://push.example/", "http://127.0.0.1/", "HTTP://localhost/", "ws://push.example/", "wss://push.example/",
    "file:///etc/passwd", "https:///x", "https://", "", "https://push.example/a b", "https://push.example/\r\nx: y",
    "https://push.example:99999/", "https://пуш.example/",
  ])
  func `an endpoint that is not on the public internet is refused`(_ endpoint: String) async throws {
    let service = try ScriptedPushService()
    let push = transport(service)
    let wrong = try await field(push, service) { $0.endpoint = endpoint }
    #expect(wrong == "web.endpoint")
    // One that was registered before is not posted to either.
    await #expect(throws: MessagingServiceError.self) {
      try await push.push(delivery("1", PushMessage(to: .token("t"))), to: service.address(endpoint))
    }
    #expect(service.requests.isEmpty)
  }

  @Test func `messages are posted to public addresses alone, unless the settings allow others`() async throws {
    let service = try ScriptedPushService()
    for isLocal in [false, true] {
      let push = transport(service, allowsLocal: isLocal)
      try await push.push(delivery("1", PushMessage(to: .token("t"))), to: service.address())
      #expect(service.requests.last?.isForPublicHosts == !isLocal)
    }
    service.fail(TransportError(.forbiddenAddress, "private", mayHaveBeenProcessed: false))
    let error = await #expect(throws: MessagingServiceError.self) {
      try await transport(service).push(delivery("1", PushMessage(to: .token("t"))), to: service.address())
    }
    // Not tried again.
    #expect(error?.code == .invalidArgument)
  }

  @Test func `the endpoints of known push services are accepted, and local ones where the settings allow it`()
    async throws
  {
    let service = try ScriptedPushService()
    let push = transport(service)
    for endpoint in [
      "https://fcm.googleapis.com/fcm/send/abc:def", "https://updates.push.services.mozilla.com/wpush/v2/gAAA_-",
      "https://web.push.apple.com/QOx", "https://wns2-db5p.notify.windows.com/w/?token=BQ%3d%3d",
      "https://push.example:8443/x", "https://xn--e1awd7f.example/", "https://push.example./",
    ] {
      #expect(try await field(push, service) { $0.endpoint = endpoint } == nil, "\(endpoint)")
    }
    let local = transport(service, allowsLocal: true)
    for endpoint in ["http://127.0.0.1:9/x", "http://[::1]:9/", "https://10.0.0.1/", "http://localhost/"] {
      #expect(try await field(local, service) { $0.endpoint = endpoint } == nil, "\(endpoint)")
    }
    #expect(try await field(local, service) { $0.endpoint = "http://10.0.0.1/" } == "web.endpoint")
  }

  @Test func `a key that is not on the curve, and a secret of another length, are refused at registration`()
    async throws
  {
    let service = try ScriptedPushService()
    let push = transport(service)
    let point = service.browser.publicPoint
    var flipped = point
    flipped[64] ^= 1
    let compressed = [2 + point[64] % 2] + point[1..<33]
    for wrong in [
      flipped, [4] + [UInt8](repeating: 0, count: 64), [4] + [UInt8](repeating: 255, count: 64), compressed, [0], [],
      point + [0], Array(point.dropLast()), [6] + point.dropFirst(),
    ] as [[UInt8]] {
      #expect(try await field(push, service) { $0.p256dh = Base64.url.encode(wrong) } == "web.p256dh", "\(wrong)")
    }
    for text in ["*", "====", String(repeating: "A", count: 100_000)] {
      #expect(try await field(push, service) { $0.p256dh = text } == "web.p256dh")
      #expect(try await field(push, service) { $0.auth = text } == "web.auth")
    }
    for count in [0, 1, 15, 17, 32] {
      let auth = Base64.url.encode([UInt8](repeating: 1, count: count))
      #expect(try await field(push, service) { $0.auth = auth } == "web.auth", "\(count)")
    }
    for text in ["", "{", "{}", "[]", "null", "{\"endpoint\":1}", "x"] {
      await #expect(throws: MessagingServiceError.self) { try await push.check(PushAddress(text: text)) }
      #expect(push.service(of: PushAddress(text: text)) == "")
    }
    #expect(push.service(of: service.address("https://Push.example:8443/x")) == "push.example:8443")
  }

  @Test func `a payload at the border is sent, one byte more is refused for good`() async throws {
    let service = try ScriptedPushService()
    let push = transport(service)
    func message(_ count: Int) -> PushMessage {
      PushMessage(to: .token("t"), data: ["a": String(repeating: "x", count: count)])
    }
    try await push.push(delivery("1", message(1)), to: service.address())
    let rest = try service.payload(of: #require(service.requests.first)).json().count - 1
    try await push.push(delivery("1", message(3_993 - rest)), to: service.address())
    #expect(service.requests.last?.body.bytes?.count == 4_096)
    let error = await #expect(throws: MessagingServiceError.self) {
      try await push.push(delivery("1", message(3_994 - rest)), to: service.address())
    }
    #expect(error?.code == .invalidArgument && service.requests.count == 2)
  }

  @Test(arguments: ["0", "60.9", "-5", "1e300", "nan", "x", "", "99999999999999999999"])
  func `a time to live is a whole number of at most four weeks`(_ text: String) async throws {
    let service = try ScriptedPushService()
    let message = PushMessage(to: .token("t"), webpush: ["headers": ["TTL": .string(text), "Urgency": "HIGH\r\nx: y"]])
    try await transport(service).push(delivery("1", message), to: service.address())
    let request = try #require(service.requests.first)
    let time = try #require(request.fields.first("ttl").flatMap { Int($0) })
    #expect((0...2_419_200).contains(time) && request.fields.first("urgency") == "normal")
  }

  @Test func `keys of messages that replace each other become topics that push services accept, one each`()
    async throws
  {
    let service = try ScriptedPushService()
    let keys = ["a", String(repeating: "a", count: 32), String(repeating: "a", count: 33), "ü", "a b", "a\r\nb: c", ""]
    for key in keys {
      let message = PushMessage(to: .token("t"), webpush: ["headers": ["Topic": .string(key)]])
      try await transport(service).push(delivery("1", message), to: service.address())
    }
    let topics = service.requests.compactMap { $0.fields.first("topic") }
    #expect(topics.count == keys.count && Set(topics).count == keys.count)
    for topic in topics {
      #expect(
        (1...32).contains(topic.count)
          && topic.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
    }
  }

  @Test(
    arguments: [
      (200, nil), (201, nil), (202, nil), (204, nil), (400, ServiceCode.invalidArgument), (402, .invalidArgument),
      (408, .unavailable), (425, .unavailable), (429, .unavailable), (500, .unavailable), (502, .unavailable),
      (599, .unavailable), (301, .unavailable), (308, .unavailable),
    ] as [(Int, ServiceCode?)])
  func `a web page as an answer is neither believed nor copied into a log`(_ status: Int, _ code: ServiceCode?)
    async throws
  {
    let service = try ScriptedPushService()
    let page = "<html>\r\n2026-01-01 [error] forged\u{1B}[31m" + String(repeating: "x", count: 9_000)
    service.answer(
      HTTPResponse(
        HTTPStatus(status), fields: [.contentType: "text/html", .location: "http://10.0.0.1/"],
        body: .bytes(Array(page.utf8))))
    do {
      try await transport(service).push(delivery("1", PushMessage(to: .token("t"))), to: service.address())
      #expect(code == nil)
    } catch {
      #expect(error.code == code && error.message.utf8.allSatisfy { $0 >= 32 && $0 != 127 })
      #expect(error.message.utf8.count < 400)
    }
    #expect(service.requests.count == 1)
  }

  @Test(arguments: ["-1", "0", "7", "99999999999", "9223372036854775808", "x", "Wed, 21 Oct 2026 07:28:00 GMT", ""])
  func `a wrong time to try again is as good as none`(_ text: String) async throws {
    let service = try ScriptedPushService()
    service.answer(HTTPResponse(429, fields: ["retry-after": text]))
    let error = await #expect(throws: MessagingServiceError.self) {
      try await transport(service).push(delivery("1", PushMessage(to: .token("t"))), to: service.address())
    }
    #expect(error?.status.retryAfter == ["0": .zero, "7": .seconds(7)][text])
  }

  @Test(arguments: [201, 503])
  func `a body that never ends takes no longer than the time-out, and its status counts`(_ status: Int) async throws {
    let (service, clock) = (try ScriptedPushService(), ManualClock())
    let stream = ByteStream()
    service.answer(HTTPResponse(HTTPStatus(status), body: .stream(stream)))
    try await stream.write([65])
    let push = transport(service, clock: clock.service)
    let outcome = Task { () -> ServiceCode? in
      do throws(MessagingServiceError) {
        try await push.push(delivery("1", PushMessage(to: .token("t"))), to: service.address())
        return nil
      } catch {
        return error.code
      }
    }
    await clock.waitForTimers(1)
    clock.advance(by: .seconds(30))
    #expect(await outcome.value == (status == 201 ? nil : .unavailable))
  }
}
