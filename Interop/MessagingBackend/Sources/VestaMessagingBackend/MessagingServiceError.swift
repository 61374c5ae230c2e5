public import VestaServiceInterop

/// Why the messaging service refused a call.
public struct MessagingServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The codes of FCM's v1 API, the `errorCode` of its `FcmError` details.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// There is no reason.
    case unspecified = "UNSPECIFIED_ERROR"
    /// The request is malformed; the message names the field.
    case invalidArgument = "INVALID_ARGUMENT"
    /// The token or installation is not registered, or no longer.
    case unregistered = "UNREGISTERED"
    /// The registration belongs to another sender.
    case senderIDMismatch = "SENDER_ID_MISMATCH"
    /// Too many messages were sent: try again later.
    case quotaExceeded = "QUOTA_EXCEEDED"
    /// The service cannot answer now: try again with growing pauses.
    case unavailable = "UNAVAILABLE"
    /// The service is at fault.
    case `internal` = "INTERNAL"
    /// The credentials for APNs or web push are missing or refused.
    case thirdPartyAuth = "THIRD_PARTY_AUTH_ERROR"
  }

  /// The canonical status.
  public let code: ServiceCode

  /// The code of the v1 API.
  public let reason: Reason

  /// A description of the failure and what to do about it.
  public let message: String

  /// The field that is wrong, such as `message.android.ttl`; `nil` for other errors.
  public let field: String?

  /// The structured details, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// An error with the reason of the same meaning as the status.
  public init(_ code: ServiceCode, _ message: String) {
    self.init(code, reason: Self.reason(of: code), message)
  }

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The canonical status.
  ///   - reason: The code of the v1 API.
  ///   - message: A description of the failure and what to do about it.
  ///   - field: The field that is wrong.
  ///   - errorDetails: The structured details.
  public init(
    _ code: ServiceCode, reason: Reason, _ message: String, field: String? = nil, errorDetails: [ErrorDetail] = []
  ) {
    self.code = code
    self.reason = reason
    self.message = message
    self.field = field
    self.errorDetails = errorDetails
  }

  /// The error for a status, with the reason of the same meaning.
  public init(_ status: ServiceStatus) {
    self.init(
      status.code, reason: Self.reason(of: status.code), status.message, field: status.details.wrongField,
      errorDetails: status.details)
  }

  /// The status, the message and the details; the wrong field is one of them.
  public var status: ServiceStatus {
    guard let field, errorDetails.wrongField == nil else { return ServiceStatus(code, message, details: errorDetails) }
    return ServiceStatus(code, message, details: errorDetails + [.badRequest(field: field, description: message)])
  }

  /// A request with a wrong field.
  public static func invalid(_ field: String, _ message: String) -> MessagingServiceError {
    MessagingServiceError(.invalidArgument, reason: .invalidArgument, "\(field): \(message)", field: field)
  }

  /// A token or installation that is not registered.
  public static let unregistered = MessagingServiceError(
    .notFound, reason: .unregistered, "Requested entity was not found: it is not registered, or not any more.")

  private static func reason(of code: ServiceCode) -> Reason {
    switch code {
    case .invalidArgument, .outOfRange, .failedPrecondition: .invalidArgument
    case .notFound: .unregistered
    case .resourceExhausted: .quotaExceeded
    case .unavailable, .deadlineExceeded, .aborted, .cancelled: .unavailable
    case .unauthenticated: .thirdPartyAuth
    case .permissionDenied: .senderIDMismatch
    default: .internal
    }
  }

  /// The status and the message.
  public var description: String { "\(code.name): \(message)" }
}
