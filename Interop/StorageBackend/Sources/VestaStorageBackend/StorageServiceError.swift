public import VestaServiceInterop

/// The failure of a call of the object service.
public struct StorageServiceError: ServiceFailure, Hashable, CustomStringConvertible {
  /// The canonical code.
  public let code: ServiceCode

  /// The cause and the remedy.
  public let message: String

  /// The reason, where the code alone does not determine it.
  public let reason: Reason?

  /// The structured details, such as the time after which to try again.
  public let errorDetails: [ErrorDetail]

  /// The reasons that callers distinguish within one code.
  public enum Reason: Sendable, Hashable {
    /// The disk of the service, or the quota on it, is full.
    case diskFull
    /// The content is not what the sender said.
    case contentMismatch
    /// The offset of an append is not the received size, which is given.
    case wrongOffset(received: Int64)
    /// The upload session is unknown, has expired or was cancelled.
    case uploadGone
    /// A precondition does not hold.
    case precondition
    /// The range is not in the content, which has `size` bytes.
    case outOfRange(size: Int64)
  }

  /// An error.
  ///
  /// - Parameters:
  ///   - code: The canonical code.
  ///   - message: The cause and the remedy.
  ///   - reason: The reason, where the code alone does not determine it.
  ///   - errorDetails: The structured details.
  public init(_ code: ServiceCode, _ message: String, reason: Reason?, errorDetails: [ErrorDetail] = []) {
    self.code = code
    self.message = message
    self.reason = reason
    self.errorDetails = errorDetails
  }

  /// An error that its code describes.
  public init(_ code: ServiceCode, _ message: String) { self.init(code, message, reason: nil) }

  /// The error for a status; a full disk of a store is the reason ``Reason/diskFull``.
  public init(_ status: ServiceStatus) {
    let isFull = status.details.reason(in: "store") == "DISK_FULL"
    self.init(status.code, status.message, reason: isFull ? .diskFull : nil, errorDetails: status.details)
  }

  /// The code, the message and the details.
  public var status: ServiceStatus { ServiceStatus(code, message, details: errorDetails) }

  /// The code and the message.
  public var description: String { "\(code): \(message)" }
}
