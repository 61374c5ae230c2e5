public import VestaServiceInterop

/// The failure of a call of the tree service.
public struct DatabaseServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical code.
  public let code: ServiceCode

  /// The cause and the remedy.
  public let message: String

  /// The status that a connection would have replied; `nil` where the call ended before.
  public let reply: DatabaseStatus?

  /// The node that is there where the hash of a write was not that of the data.
  public let current: DatabaseNode?

  /// The structured details, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// An error that its code describes.
  public init(_ code: ServiceCode, _ message: String) { self.init(ServiceStatus(code, message)) }

  /// The error for a status.
  public init(_ status: ServiceStatus) {
    (code, message, errorDetails) = (status.code, status.message, status.details)
    (reply, current) = (nil, nil)
  }

  /// The error for a reply that is not `ok`.
  public init(_ reply: DatabaseReply) {
    code = Self.codes[reply.status] ?? .unknown
    message = reply.message
    errorDetails = []
    self.reply = reply.status
    current = reply.status == .dataStale ? reply.node : nil
  }

  /// The code, the message and the details.
  public var status: ServiceStatus { ServiceStatus(code, message, details: errorDetails) }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }

  private static let codes: [DatabaseStatus: ServiceCode] = [
    .permissionDenied: .permissionDenied, .dataStale: .failedPrecondition, .unavailable: .unavailable,
    .invalid: .invalidArgument, .tooBig: .invalidArgument, .invalidToken: .unauthenticated,
    .expiredToken: .unauthenticated,
  ]
}
