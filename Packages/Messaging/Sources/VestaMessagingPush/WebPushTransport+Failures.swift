import VestaCryptoInterop
import VestaMessagingBackend
import VestaServiceInterop
import VestaTransportInterop

// The meaning of the answers of push services.
extension WebPushTransport {
  static let tooLarge = MessagingServiceError(
    .invalidArgument, reason: .invalidArgument,
    "The message is too large for the push services of browsers: its JSON has at most 3993 bytes.", field: "message")

  /// The failure that a response means; `nil` for an accepted message.
  static func failure(_ response: HTTPResponse, _ body: [UInt8], at endpoint: HTTPURL) -> MessagingServiceError? {
    if response.status.isSuccess { return nil }
    // One line of the log: a service must not write lines of its choice into it.
    // Terminals obey the controls from U+0080 too, and some readers of logs end lines at U+2028 and U+2029.
    let scalars = String(decoding: body.prefix(200), as: UTF8.self).unicodeScalars.map { scalar -> Character in
      let isControl = scalar.value < 32 || (127..<160).contains(scalar.value)
      return isControl || (0x2028...0x2029).contains(scalar.value) ? " " : Character(scalar)
    }
    let text = String(scalars)
    let sentence = "The push service \(endpoint.authority) has answered \(response.status). \(text)"
    switch response.status.code {
    case 404, 410: return .unregistered
    case 413: return tooLarge
    case 401, 403: return MessagingServiceError(.unauthenticated, reason: .thirdPartyAuth, sentence)
    case 408, 425, 429, 500...:
      let seconds = response.fields.first("retry-after").flatMap { Int64($0) }
      let details = seconds.map { $0 >= 0 && $0 < 1 << 32 ? [ErrorDetail.retryInfo(after: .seconds($0))] : [] } ?? []
      return MessagingServiceError(.unavailable, reason: .unavailable, sentence, errorDetails: details)
    case 300..<400: return MessagingServiceError(.unavailable, "\(sentence) Redirects are not followed.")
    default: return MessagingServiceError(.invalidArgument, sentence)
    }
  }

  static func failure(_ error: any Error) -> MessagingServiceError {
    switch error {
    case let error as MessagingServiceError: error
    case CryptoError.Code.invalidKey: .invalid("web.p256dh", "The key of the browser is not on the curve P-256.")
    case TransportError.Code.forbiddenAddress:
      .invalid("web.endpoint", "The endpoint leads to no host of the public internet.")
    default: MessagingServiceError(.unavailable, "The push service cannot be reached now. \(error)")
    }
  }
}
