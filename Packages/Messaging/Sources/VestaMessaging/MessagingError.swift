public import Foundation
import VestaCore

/// The domain of ``MessagingError``.
public let MessagingErrorDomain = "com.google.fcm"

/// Why an operation of Messaging failed.
///
/// `(error as NSError)` has Firebase's domain and codes; the message is also its `NSLocalizedFailureReason`.
public struct MessagingError: CustomNSError, LocalizedError, Hashable {
  /// The kinds of failures.
  public enum Code: Int, Sendable {
    /// A failure without a specific code.
    case unknown = 0
    /// The credentials of this app are not accepted.
    case authentication = 1
    /// This app may not do this.
    case noAccess = 2
    /// The service did not answer in time: try again.
    case timeout = 3
    /// The service cannot be reached: try again.
    case network = 4
    /// Another operation of the same kind is running: wait for it.
    case operationInProgress = 5
    /// The request is malformed; the message says what to correct.
    case invalidRequest = 7
    /// The name of the topic has characters that topics must not have.
    case invalidTopicName = 8

    /// Lets `catch` clauses match an error with this code, also as an `NSError`.
    public static func ~= (code: Code, error: any Error) -> Bool {
      error.hasCode(code.rawValue, in: MessagingErrorDomain)
    }
  }

  /// The kind of the failure.
  public let code: Code

  /// A description of the failure.
  public let message: String

  init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// An error, as upstream's programs and tests make them.
  ///
  /// - Parameters:
  ///   - code: The kind of the failure.
  ///   - userInfo: Its description.
  public init(_ code: Code, userInfo: [String: Any] = [:]) {
    self.init(code, userInfo[NSLocalizedDescriptionKey] as? String ?? "\(code)")
  }

  static let appDeleted = MessagingError(.unknown, "The app has been deleted. Configure it again.")

  /// ``Code/unknown``.
  public static var unknown: Code { .unknown }
  /// ``Code/authentication``.
  public static var authentication: Code { .authentication }
  /// ``Code/noAccess``.
  public static var noAccess: Code { .noAccess }
  /// ``Code/timeout``.
  public static var timeout: Code { .timeout }
  /// ``Code/network``.
  public static var network: Code { .network }
  /// ``Code/operationInProgress``.
  public static var operationInProgress: Code { .operationInProgress }
  /// ``Code/invalidRequest``.
  public static var invalidRequest: Code { .invalidRequest }
  /// ``Code/invalidTopicName``.
  public static var invalidTopicName: Code { .invalidTopicName }

  /// ``MessagingErrorDomain``.
  public static var errorDomain: String { MessagingErrorDomain }
  /// The number of the code.
  public var errorCode: Int { code.rawValue }
  /// The message.
  public var errorDescription: String? { message }
  /// The message.
  public var failureReason: String? { message }
  /// The message, as description and as reason.
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: message, NSLocalizedFailureReasonErrorKey: message]
  }
}
