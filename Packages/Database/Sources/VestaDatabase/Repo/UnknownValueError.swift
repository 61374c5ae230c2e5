public import Foundation
import VestaDatabaseBackend

/// A value that neither the service nor this device could give.
public struct UnknownValueError: Error, LocalizedError, CustomNSError, Sendable, CustomStringConvertible {
  let path: DatabasePath
  let reason: String

  /// The domain of the `NSError`.
  public static let errorDomain = "com.firebase.core"

  /// The code of the `NSError`.
  public var errorCode: Int { 1 }

  /// The error as a string.
  public var description: String {
    """
    Unable to get latest value for query \(path), client offline with no active listeners \
    and no matching disk cache entries
    """
  }

  /// The error as a string.
  public var errorDescription: String? { description }

  /// The explanation of the service.
  public var failureReason: String? { reason }

  /// The `userInfo` of the `NSError`.
  public var errorUserInfo: [String: Any] {
    [NSLocalizedDescriptionKey: description, NSLocalizedFailureReasonErrorKey: reason]
  }
}
