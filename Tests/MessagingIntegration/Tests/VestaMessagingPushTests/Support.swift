import VestaBytes
import VestaConcurrency
import VestaCrypto
import VestaCryptoInterop
import VestaMessagingBackend
import VestaMessagingPush
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop

/// A push service in memory: it answers as a test says, and decrypts with the key of a browser.
final class ScriptedPushService: HTTPClient {
  let browser: any AgreementKey
  let secret = [UInt8](repeating: 5, count: 16)
  private let crypto = OpenSSLCrypto()
  private let nextAnswer = Locked(HTTPResponse(201))
  private let failure = Locked<TransportError?>(nil)

  /// The requests, in order.
  let log = Log<HTTPRequest>()

  init() throws { browser = try OpenSSLCrypto().agreementKey() }

  var requests: [HTTPRequest] { log.entries }

  func answer(_ response: HTTPResponse) { nextAnswer.withLock { $0 = response } }

  /// Has requests fail.
  func fail(_ error: TransportError) { failure.withLock { $0 = error } }

  /// The address of a subscription.
  func address(_ endpoint: String = "https://push.example/1", key: String? = nil) -> PushAddress {
    let address = WebPushAddress(
      endpoint: endpoint, auth: Base64.url.encode(secret), p256dh: Base64.url.encode(browser.publicPoint),
      applicationKey: key)
    return .webPush(address)
  }

  /// The ids of the accepted messages, by their decrypted payloads.
  func received() throws -> [String] {
    try requests.filter { $0.target != "/gone" }.map { try payload(of: $0)["fcmMessageId"]?.string ?? "" }
  }

  /// Decrypts as RFC 8291 says for a browser: with counter mode, as the tag needs the key of the sender alone.
  func payload(of request: HTTPRequest) throws -> JSONObject {
    let body = request.body.bytes ?? []
    let (salt, point, sealed) = (Array(body[..<16]), Array(body[21..<86]), Array(body[86...]))
    let input = try crypto.deriveKey(
      from: try browser.sharedSecret(with: point), salt: secret,
      info: Array("WebPush: info\0".utf8) + browser.publicPoint + point, count: 32)
    let key = try crypto.deriveKey(
      from: input, salt: salt, info: Array("Content-Encoding: aes128gcm\0".utf8), count: 16)
    let nonce = try crypto.deriveKey(from: input, salt: salt, info: Array("Content-Encoding: nonce\0".utf8), count: 12)
    // The cipher is its own inverse but for the tag: sealing the ciphertext yields the plaintext.
    let text = Array(sealed.dropLast(16))
    let plain = Array(try crypto.seal(text, key: key, nonce: nonce.bytes, context: []).dropLast(16))
    guard try crypto.seal(plain, key: key, nonce: nonce.bytes, context: []) == sealed, plain.last == 2 else {
      throw CryptoError(.notAuthentic, "the tag is wrong")
    }
    return try JSONObject(json: Array(plain.dropLast()))
  }

  func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    if let error = failure.withLock({ $0 }) { throw error }
    log.add(request)
    return request.target == "/gone" ? HTTPResponse(410) : nextAnswer.withLock { $0 }
  }

  func openWebSocket(_ request: HTTPRequest, subprotocols: [String], timeout: Duration?) async throws -> WebSocket {
    throw TransportError(.refused, "There is no WebSocket.")
  }

  func close() async {}
}

/// A transport over a push service in memory.
func transport(
  _ service: ScriptedPushService, store: ModelStore = ModelStore(), allowsLocal: Bool = false,
  clock: ServiceClock = .system
) -> WebPushTransport {
  var options = MessagingPushOptions()
  (options.allowsLocalEndpoints, options.clock) = (allowsLocal, clock)
  return WebPushTransport(
    project: "demo", crypto: OpenSSLCrypto(), options: options, client: { service }, openStore: { store })
}

func delivery(_ id: String, _ message: PushMessage, from: String = "1") -> PushDelivery {
  PushDelivery(
    messageID: id, message: message, from: from, sentTime: 0,
    settings: DeliverySettings(message, platform: "web", now: 0))
}
