import Testing
import VestaBytes
import VestaCrypto
import VestaCryptoInterop
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop

@testable import VestaMessagingPush

@Suite(.timeLimit(.minutes(10))) struct WebPushTests {
  private let crypto = OpenSSLCrypto()

  @Test func `the example of RFC 8291 has the body of the RFC`() throws {
    let decode = { (text: String) in try Base64.url.decode(text) }
    let key = try crypto.agreementKey(
      privateBytes: SecretBytes(decode("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))
    let body = try WebPushCipher(crypto: crypto).encrypt(
      Array("When I grow up, I want to be a watermelon".utf8),
      for: decode("BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
      authentication: decode("BTBZMqHH6r4Tts7J_aSIgg"), key: key, salt: decode("DGv6ra1nlYgDCS1FRnbzlw"))
    let expected = """
      DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A\
      _yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
      """
    #expect(Base64.url.encode(body) == expected)
  }

  @Test func `a payload has at most 3993 bytes, and bodies at most 4096`() throws {
    let (cipher, browser) = (WebPushCipher(crypto: crypto), try crypto.agreementKey().publicPoint)
    let secret = [UInt8](repeating: 1, count: 16)
    let largest = try cipher.encrypt([UInt8](repeating: 1, count: 3_993), for: browser, authentication: secret)
    #expect(largest.count == 4_096)
    let error = #expect(throws: CryptoError.self) {
      try cipher.encrypt([UInt8](repeating: 1, count: 3_994), for: browser, authentication: secret)
    }
    #expect(error?.code == .limitExceeded)
  }

  @Test func `the transport keeps its promises`() async throws {
    let outcomes = await PushTransportContracts.all.run {
      let service = try ScriptedPushService()
      return PushTransportSubject(
        transport(service), address: service.address(), missingAddress: service.address("https://push.example/gone")
      ) { try service.received() }
    }
    #expect(!outcomes.isEmpty)
    for outcome in outcomes { #expect(outcome.isKept, "\(outcome)") }
  }

  @Test func `a request has the fields of RFC 8030 and 8292, and the payload of the web SDK`() async throws {
    let service = try ScriptedPushService()
    let push = transport(service)
    let message = PushMessage(
      to: .token("t"), notification: PushNotification(title: "Title", body: "Body"), data: ["a": "b"],
      webpush: [
        "headers": ["TTL": "60", "Urgency": "low", "Topic": "scores"],
        "notification": ["title": "Other", "icon": "/i.png"], "fcm_options": ["link": "https://a.example/"],
      ])
    try await push.push(delivery("m1", message, from: "/topics/news"), to: service.address("https://p.example:444/x?y"))
    let request = try #require(service.requests.first)
    #expect(request.method == .post && request.scheme == "https")
    #expect(request.authority == "p.example:444" && request.target == "/x?y")
    #expect(request.fields.first("ttl") == "60" && request.fields.first("urgency") == "low")
    #expect(request.fields.first("topic") == "scores" && request.fields.first("content-encoding") == "aes128gcm")
    let own = try await push.publicKey()
    let words = try #require(request.fields.first(.authorization)).split { " ,".contains($0) }
    #expect(words.count == 3 && words[0] == "vapid" && words[2] == "k=\(own)")
    let point = try Base64.url.decode(own)
    let key = try crypto.verificationKey(
      jsonWebKey: JSONWebKey(
        keyType: .p256, keyID: nil, algorithm: .es256,
        parameters: [.x: Array(point[1..<33]), .y: Array(point[33...])]))
    let token = String(words[1].dropFirst(2))
    let parts = token.split(separator: ".")
    #expect(
      key.isValidSignature(try Base64.url.decode(String(parts[2])), for: Array("\(parts[0]).\(parts[1])".utf8)))
    let claims = try JWT(unverified: token).claims
    let now = ServiceClock.system.seconds()
    #expect(claims["aud"] == "https://p.example:444" && claims["sub"]?.string?.hasPrefix("mailto:") == true)
    guard case .integer(let end)? = claims["exp"] else { throw CryptoError(.missingClaim, "exp") }
    #expect(end > now && end <= now + 24 * 3_600)
    let expected: JSONObject = [
      "notification": ["title": "Other", "body": "Body", "icon": "/i.png"], "data": ["a": "b"],
      "fcmOptions": ["link": "https://a.example/"], "from": "/topics/news", "fcmMessageId": "m1",
      "collapse_key": "scores", "priority": "normal",
    ]
    #expect(try service.payload(of: request) == expected)
  }

  @Test(arguments: [
    (404, MessagingServiceError.Reason.unregistered), (410, .unregistered), (413, .invalidArgument),
    (401, .thirdPartyAuth), (403, .thirdPartyAuth), (429, .unavailable), (503, .unavailable), (307, .unavailable),
    (400, .invalidArgument),
  ])
  func `each refusal of a push service has its reason`(_ status: Int, _ reason: MessagingServiceError.Reason)
    async throws
  {
    let service = try ScriptedPushService()
    service.answer(
      HTTPResponse(HTTPStatus(status), fields: ["retry-after": "7", .location: "https://other.example/"]))
    let error = await #expect(throws: MessagingServiceError.self) {
      try await transport(service).push(delivery("1", PushMessage(to: .token("t"))), to: service.address())
    }
    #expect(error?.reason == reason)
    #expect(service.requests.count == 1)
    #expect(error?.status.retryAfter == (status == 429 || status == 503 ? .seconds(7) : nil))
  }

  @Test func `the key of a project is made once and kept`() async throws {
    let (service, store) = (try ScriptedPushService(), ModelStore())
    let first = try await transport(service, store: store).publicKey()
    #expect(try await transport(service, store: store).publicKey() == first)
    #expect(try Base64.url.decode(first).count == 65)
    #expect(try await transport(service).publicKey() != first)
  }

  @Test func `a subscription is registered with the key of the project alone`() async throws {
    let service = try ScriptedPushService()
    let push = transport(service)
    let key = try await push.publicKey()
    try await push.check(service.address(key: key))
    try await push.check(service.address(key: key + "="))
    for other in [nil, "", try await transport(service).publicKey()] {
      let error = await #expect(throws: MessagingServiceError.self) {
        try await push.check(service.address(key: other))
      }
      #expect(error?.reason == .invalidArgument && error?.message.contains("use your own vapidKey") == true)
      #expect(error?.message.contains("/v1/projects/demo/webPushKey") == true)
    }
    for endpoint in ["http://push.example/1", "ftp://push.example/1", "ws://localhost/", "x", "http://10.0.0.1/"] {
      let error = await #expect(throws: MessagingServiceError.self) {
        try await push.check(service.address(endpoint, key: key))
      }
      #expect(error?.field == "web.endpoint", "\(endpoint)")
    }
  }
}
