public import VestaBytes
public import VestaServiceInterop

/// The failure of a call of a function.
public struct FunctionsServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical code.
  public let code: ServiceCode

  /// The cause, for a developer.
  public let message: String

  /// The details that the function has given, in the wire's form.
  public let details: JSONValue?

  /// The structured details of the service, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// A failure.
  public init(_ code: ServiceCode, _ message: String, details: JSONValue?, errorDetails: [ErrorDetail] = []) {
    self.code = code
    self.message = message
    self.details = details
    self.errorDetails = errorDetails
  }

  /// A failure without details.
  public init(_ code: ServiceCode, _ message: String) { self.init(code, message, details: nil) }

  /// The failure for a status.
  public init(_ status: ServiceStatus) {
    self.init(status.code, status.message, details: nil, errorDetails: status.details)
  }

  /// The code, the message and the structured details of the service.
  public var status: ServiceStatus { ServiceStatus(code, message, details: errorDetails) }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
