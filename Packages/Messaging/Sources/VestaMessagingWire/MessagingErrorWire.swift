import VestaBytes
public import VestaMessagingBackend
import VestaServiceInterop

/// The errors of the v1 API as bodies, and back.
public enum MessagingErrorWire {
  /// The type of the detail by which Admin SDKs know an error.
  public static let detailType = "type.googleapis.com/google.firebase.fcm.v1.FcmError"

  /// The body of a failure.
  ///
  /// A caller who may not call at all gets the code alone: its error is not Messaging's own.
  public static func body(of error: MessagingServiceError) -> [UInt8] {
    var envelope = error.status.envelope()
    if error.code != .unauthenticated, error.reason != .unspecified {
      envelope.details.append(["@type": .string(detailType), "errorCode": .string(error.reason.rawValue)])
    }
    return (try? envelope.object.json()) ?? []
  }

  /// The failure of an answer.
  ///
  /// - Parameters:
  ///   - status: The status of HTTP.
  ///   - body: The body.
  ///   - retryAfter: The field `retry-after`.
  public static func error(status: Int, body: [UInt8], retryAfter: String? = nil) -> MessagingServiceError {
    let failure = MessagingServiceError(ServiceStatus(httpStatus: status, body: body, retryAfter: retryAfter))
    let details = ErrorEnvelope(json: body)?.details ?? []
    let word = details.lazy.compactMap(\.object).first { $0["@type"]?.string == detailType }?["errorCode"]?.string
    guard let reason = word.flatMap(MessagingServiceError.Reason.init(rawValue:)) else { return failure }
    return MessagingServiceError(
      failure.code, reason: reason, failure.message, field: failure.field, errorDetails: failure.errorDetails)
  }
}
