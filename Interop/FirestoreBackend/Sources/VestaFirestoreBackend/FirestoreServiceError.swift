/// Why the document service refused a call, or why a target has ended.
///
/// ```swift
/// do {
///   _ = try await backend.commit(request, context: context)
/// } catch let error as FirestoreServiceError where error.code == .aborted {
///   // Another transaction was in the way: read again and try again.
/// }
/// ```
public struct FirestoreServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical code.
  public let code: ServiceCode

  /// The cause; it names the part of the request that is wrong.
  public let message: String

  /// The structured details, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The canonical code.
  ///   - message: The cause; it names the part of the request.
  ///   - errorDetails: The structured details.
  public init(_ code: ServiceCode, _ message: String, errorDetails: [ErrorDetail]) {
    self.code = code
    self.message = message
    self.errorDetails = errorDetails
  }

  /// An error without details.
  public init(_ code: ServiceCode, _ message: String) { self.init(code, message, errorDetails: []) }

  /// The error for a status.
  public init(_ status: ServiceStatus) {
    self.init(status.code, status.message, errorDetails: status.details)
  }

  /// The code, the message and the details.
  public var status: ServiceStatus { ServiceStatus(code, message, details: errorDetails) }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
