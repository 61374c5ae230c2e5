public import Foundation
import VestaDatabaseBackend

/// Why an operation of the Realtime Database has failed.
///
/// Bridges to `NSError` with the domain and the codes of the Apple SDK.
public struct DatabaseError: Error, LocalizedError, CustomNSError, Sendable, Hashable, CustomStringConvertible {
  /// The kind of failure.
  public enum Code: Int, Sendable, Hashable {
    /// The rules do not allow it.
    case permissionDenied = 1
    /// The service cannot be reached.
    case unavailable = 2
    /// The write was purged before it was acknowledged.
    case writeCanceled = 3
    /// Anything else; the message says what.
    case other = 9999
  }

  /// The domain of the `NSError`.
  public static let errorDomain = "com.firebase"

  /// The kind of failure.
  public let code: Code

  /// The error as a string.
  public let message: String

  /// An error.
  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The error for a status of the service.
  init(status: DatabaseStatus, message: String = "") {
    switch status {
    case .permissionDenied: self.init(.permissionDenied, message.isEmpty ? "Permission Denied" : message)
    case .unavailable: self.init(.unavailable, message.isEmpty ? "Service is unavailable" : message)
    case .writeCanceled: self.init(.writeCanceled, "Write cancelled by user")
    default: self.init(.other, message.isEmpty ? status.rawValue : message)
    }
  }

  /// The number of the code.
  public var errorCode: Int { code.rawValue }

  /// The `userInfo` of the `NSError`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }

  /// The error as a string.
  public var errorDescription: String? { message }

  /// The error as a string.
  public var description: String { message }
}

extension DatabaseError {
  /// The error of calls that the end of the app has overtaken.
  static let appDeleted = DatabaseError(.unavailable, "The app was deleted before the service had answered.")
}

extension DatabaseStatus {
  /// The client has purged the write.
  static let writeCanceled = DatabaseStatus(rawValue: "write_canceled")
  /// A transaction has been tried too often.
  static let maxRetry = DatabaseStatus(rawValue: "maxretry")
  /// A transaction was overridden by a write.
  static let set = DatabaseStatus(rawValue: "set")
  /// The connection was lost while a transaction was under way.
  static let disconnect = DatabaseStatus(rawValue: "disconnect")
}
