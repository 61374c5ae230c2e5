import VestaBytes
import VestaServiceInterop

/// The fields of gRPC over HTTP/2, in both directions.
enum GRPCWire {
  static let contentType = "application/grpc"
  private static let typeBytes = Array(contentType.utf8)
  /// Names that every call looks for.
  static let timeoutName: HTTPFieldName = "grpc-timeout"
  static let encodingName: HTTPFieldName = "grpc-encoding"

  // MARK: Time-outs

  /// A time-out as `grpc-timeout` writes it: at most eight digits and a unit, rounded up.
  static func text(of timeout: Duration) -> String {
    let (seconds, attoseconds) = timeout.components
    let rest = attoseconds / 1_000_000_000 + (attoseconds % 1_000_000_000 > 0 ? 1 : 0)
    guard seconds >= 0, rest >= 0 else { return "0n" }
    if seconds == 0, rest < 100_000_000 { return "\(rest)n" }
    if seconds < 100 { return "\(seconds * 1_000_000 + (rest + 999) / 1_000)u" }
    if seconds < 100_000 { return "\(seconds * 1_000 + (rest + 999_999) / 1_000_000)m" }
    if seconds < 99_999_999 { return "\(seconds + (rest > 0 ? 1 : 0))S" }
    return "\(min(99_999_999, seconds / 3_600))H"
  }

  /// The time-out that a value of `grpc-timeout` says; `nil` for a value that is none.
  static func timeout(_ text: String) -> Duration? {
    guard let unit = text.utf8.last, (2...9).contains(text.utf8.count),
      text.utf8.dropLast().allSatisfy({ $0 &- 48 < 10 }), let count = Int64(text.dropLast())
    else { return nil }
    switch unit {
    case UInt8(ascii: "H"): return .seconds(count * 3_600)
    case UInt8(ascii: "M"): return .seconds(count * 60)
    case UInt8(ascii: "S"): return .seconds(count)
    case UInt8(ascii: "m"): return .milliseconds(count)
    case UInt8(ascii: "u"): return .microseconds(count)
    case UInt8(ascii: "n"): return .nanoseconds(count)
    default: return nil
    }
  }

  // MARK: Status

  /// Leaves printable ASCII, so that messages stay readable.
  private static let messageEncoding = PercentEncoding(leaving: " !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~")

  /// The trailers of a call that has succeeded.
  static let success: HTTPFields = ["grpc-status": "0"]

  /// The trailers of a call.
  static func trailers(_ error: GRPCError?, _ more: HTTPFields = [:]) -> HTTPFields {
    guard let error else {
      guard !more.isEmpty else { return success }
      var fields = success
      fields.append(contentsOf: more)
      return fields
    }
    var fields: HTTPFields = ["grpc-status": "\(error.code.rawValue)"]
    if !error.message.isEmpty { fields.append("grpc-message", messageEncoding.encode(error.message)) }
    if let details = error.details { fields.append("grpc-status-details-bin", Base64.unpadded.encode(details)) }
    fields.append(contentsOf: more)
    fields.append(contentsOf: error.trailers)
    return fields
  }

  /// Whether fields have a status: trailers, or a head that is all there is.
  static func hasStatus(_ fields: HTTPFields) -> Bool { fields.contains("grpc-status") }

  /// The failure that trailers say.
  ///
  /// - Returns: `nil` for success.
  static func error(_ fields: HTTPFields) -> GRPCError? {
    guard let text = fields.first("grpc-status"), let number = Int(text) else {
      return GRPCError(.internal, "The server has sent no status.")
    }
    guard number != 0 else { return nil }
    let message = fields.first("grpc-message").map { (try? PercentEncoding.decode($0)) ?? $0 } ?? ""
    return GRPCError(
      ServiceCode(wire: number), message, details: fields.first("grpc-status-details-bin").flatMap(bytes),
      trailers: fields)
  }

  /// The failure for a status of HTTP without a status of gRPC.
  static func error(_ status: HTTPStatus) -> GRPCError {
    let code: ServiceCode =
      switch status.code {
      case 400, 431: .internal
      case 401: .unauthenticated
      case 403: .permissionDenied
      case 404: .unimplemented
      case 429, 502, 503, 504: .unavailable
      default: .unknown
      }
    return GRPCError(code, "The server has answered with HTTP status \(status.code).")
  }

  /// The bytes of a binary value; padding may be there or not.
  static func bytes(_ text: String) -> [UInt8]? {
    (try? Base64.unpadded.decode(text)) ?? (try? Base64.standard.decode(text))
  }

  // MARK: Heads

  /// Whether a request is one of gRPC.
  static func isGRPC(_ fields: HTTPFields) -> Bool {
    fields.hasFirst(.contentType) { type in
      guard type.count >= typeBytes.count else { return false }
      for index in 0..<typeBytes.count where type[index] != typeBytes[index] { return false }
      guard type.count > typeBytes.count else { return true }
      return type[typeBytes.count] == UInt8(ascii: "+") || type[typeBytes.count] == UInt8(ascii: ";")
    }
  }

  /// The head of a response.
  static func head(_ metadata: HTTPFields, _ compression: TransportCompression?) -> HTTPFields {
    var fields = head(compression)
    if !metadata.isEmpty { fields.append(contentsOf: metadata) }
    return fields
  }

  /// The head of a response without metadata.
  static func head(_ compression: TransportCompression?) -> HTTPFields {
    var fields: HTTPFields = [.contentType: contentType]
    if let compression { fields.append("grpc-accept-encoding", "identity,\(compression.name)") }
    return fields
  }
}

extension HTTPFields {
  /// The bytes of a binary metadata value, whose name ends in `-bin`; `nil` where there is none or it is malformed.
  public func grpcBytes(_ name: HTTPFieldName) -> [UInt8]? { first(name).flatMap(GRPCWire.bytes) }

  /// Adds a binary metadata value, whose name ends in `-bin`.
  public mutating func appendGRPC(_ name: HTTPFieldName, _ bytes: [UInt8]) {
    append(name, Base64.unpadded.encode(bytes))
  }
}
