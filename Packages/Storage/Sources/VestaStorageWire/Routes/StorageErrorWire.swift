import VestaBytes
import VestaServiceInterop
public import VestaStorageBackend

/// Errors of the object service as responses of its three APIs, and back.
public enum StorageErrorWire {
  /// A response with an error.
  public struct Response: Sendable, Hashable {
    /// The status of HTTP.
    public var status: Int
    /// The type of the body.
    public var contentType: String
    /// The body.
    public var body: [UInt8]
  }

  /// The response of an error.
  ///
  /// - Parameters:
  ///   - error: The error.
  ///   - route: The call, whose API has a separate form; content that is refused has plain text.
  public static func response(of error: StorageServiceError, to route: StorageRoute) -> Response {
    let isFullBucket = if case .deleteBucket = route.call { error.code == .failedPrecondition } else { false }
    let status = isFullBucket ? 409 : status(of: error)
    let isContent = if case .download = route.call { true } else { false }
    switch route.api {
    case .xml: return Response(status: status, contentType: xmlType, body: xml(code: xmlCode(error), error.message))
    case .google where isContent:
      return Response(status: status, contentType: "text/html; charset=UTF-8", body: Array(escaped(error.message).utf8))
    case .google:
      let reason = isFullBucket ? "conflict" : reason(error)
      let envelope = ErrorEnvelope(code: status, message: error.message, reason: reason)
      return Response(status: status, contentType: json, body: (try? envelope.object.json()) ?? [])
    case .firebase:
      // Named where the status of HTTP alone would be another code.
      let name = ServiceCode(httpStatus: status) == error.code ? nil : error.code.name
      let envelope = ErrorEnvelope(code: status, message: error.message, status: status == 400 ? name : nil)
      return Response(status: status, contentType: json, body: (try? envelope.object.json()) ?? [])
    }
  }

  /// The type of an answer in XML.
  public static let xmlType = "application/xml; charset=UTF-8"

  /// The body of a refusal in XML.
  public static func xml(code: String, _ message: String) -> [UInt8] {
    let text =
      "<?xml version='1.0' encoding='UTF-8'?><Error><Code>\(code)</Code><Message>\(escaped(message))</Message></Error>"
    return Array(text.utf8)
  }

  /// The error of a response that is not a success.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP, which decides but for 400.
  ///   - body: The body, of which the description is taken, and the code of a 400.
  public static func error(status: Int, body: [UInt8]) -> StorageServiceError {
    let envelope = ErrorEnvelope(json: body)
    let message = envelope?.message ?? xmlMessage(body) ?? "HTTP status \(status)"
    switch status {
    case 402: return StorageServiceError(.resourceExhausted, message, reason: .diskFull)
    case 304, 412: return StorageServiceError(.failedPrecondition, message, reason: .precondition)
    case 410: return StorageServiceError(.notFound, message, reason: .uploadGone)
    case 408: return StorageServiceError(.unavailable, message)
    case 400:
      let code = envelope?.status.flatMap { ServiceCode(name: $0) } ?? .invalidArgument
      return StorageServiceError(code, message, reason: code == .dataLoss ? .contentMismatch : nil)
    default: return StorageServiceError(ServiceCode(httpStatus: status), message)
    }
  }

  /// The status of HTTP.
  ///
  /// Clients repeat a call that fails with 408, 429 or 5xx for minutes: lost data is 400 and not 500.
  public static func status(of error: StorageServiceError) -> Int {
    switch (error.reason, error.code) {
    case (.precondition?, _): 412
    case (.diskFull?, _): 402
    case (.uploadGone?, _): 404
    case (.contentMismatch?, _), (.wrongOffset?, _), (_, .dataLoss): 400
    case (.outOfRange?, _), (_, .outOfRange): 416
    case (nil, let code): code.httpStatus
    }
  }

  private static let json = "application/json; charset=utf-8"

  private static func reason(_ error: StorageServiceError) -> String {
    if error.reason == .precondition { return "conditionNotMet" }
    switch error.code {
    case .notFound: return "notFound"
    case .permissionDenied: return "forbidden"
    case .unauthenticated: return "required"
    case .resourceExhausted: return "quotaExceeded"
    case .outOfRange: return "requestedRangeNotSatisfiable"
    case .alreadyExists, .aborted: return "conflict"
    case .unavailable, .internal: return "backendError"
    default: return "invalid"
    }
  }

  private static func xmlCode(_ error: StorageServiceError) -> String {
    if error.reason == .precondition { return "PreconditionFailed" }
    if error.reason == .uploadGone { return "NoSuchUpload" }
    if error.reason == .contentMismatch { return "BadDigest" }
    switch error.code {
    case .notFound: return "NoSuchKey"
    case .permissionDenied, .unauthenticated: return "AccessDenied"
    case .outOfRange: return "InvalidRange"
    case .unavailable: return "ServiceUnavailable"
    case .internal: return "InternalError"
    default: return "InvalidArgument"
    }
  }

  /// Text that is safe in XML and HTML.
  static func escaped(_ text: String) -> String {
    text.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: scalar.value < 32 ? " " : String(scalar)
      }
    }.joined()
  }

  /// The description of an error in XML; `nil` for a body that has none.
  private static func xmlMessage(_ body: [UInt8]) -> String? {
    guard body.count <= 1 << 16, let text = String(validating: body, as: UTF8.self),
      let start = text.utf8.firstRange(of: "<Message>"), let end = text.utf8.firstRange(of: "</Message>"),
      start.upperBound <= end.lowerBound
    else { return nil }
    return String(text[start.upperBound..<end.lowerBound])
  }
}

extension String.UTF8View {
  fileprivate func firstRange(of pattern: String) -> Range<Index>? {
    let wanted = Array(pattern.utf8)
    var index = startIndex
    while index != endIndex {
      if self[index...].starts(with: wanted) { return index..<self.index(index, offsetBy: wanted.count) }
      formIndex(after: &index)
    }
    return nil
  }
}
