public import Foundation
import VestaCore
internal import VestaFirestoreBackend

/// The domain of Firestore's errors when they are seen as `NSError`.
public let FirestoreErrorDomain = "FIRFirestoreErrorDomain"

/// An error of Firestore: a code of the Firebase SDK and a message.
///
/// ```swift
/// do {
///   try await document.updateData(["seen": true])
/// } catch FirestoreErrorCode.notFound {
///   // There is no such document.
/// } catch let error as FirestoreErrorCode {
///   print(error.code, error.localizedDescription)
/// }
/// ```
public struct FirestoreErrorCode: Error, Sendable, Hashable {
  /// The kind of failure; the numbers are the Firebase SDK's.
  public enum Code: Int, Sendable, CaseIterable {
    /// No failure.
    case OK = 0
    /// The operation was cancelled, as a rule by the caller.
    case cancelled = 1
    /// A failure without a specific code.
    case unknown = 2
    /// The request can never succeed as it is: correct the argument that the message names.
    case invalidArgument = 3
    /// The operation took too long; it may have happened. Read before writing again.
    case deadlineExceeded = 4
    /// The document or database does not exist.
    case notFound = 5
    /// A document that must not exist does.
    case alreadyExists = 6
    /// The security rules do not allow this.
    case permissionDenied = 7
    /// A quota is used up, or the disk is full.
    case resourceExhausted = 8
    /// The database is not in the state that the operation needs, such as a missing index.
    case failedPrecondition = 9
    /// A concurrent transaction was in the way: run the transaction again.
    case aborted = 10
    /// A value is beyond the valid range.
    case outOfRange = 11
    /// The operation is not supported by this backend.
    case unimplemented = 12
    /// The backend broke one of its promises.
    case `internal` = 13
    /// The backend cannot be reached: try again with growing pauses.
    case unavailable = 14
    /// Data was lost or is damaged for good.
    case dataLoss = 15
    /// The caller has no valid credentials: sign in again.
    case unauthenticated = 16
  }

  /// The kind of failure.
  public let code: Code

  /// The failure in words, and for an argument of the program the change that helps.
  public let message: String

  /// An error with a code and a message.
  public init(_ code: Code, _ message: String = "") {
    self.code = code
    self.message = message
  }

  /// An error with a code and the dictionary of an `NSError`, of which the message under `NSLocalizedDescriptionKey` is
  /// kept.
  public init(_ code: Code, userInfo: [String: Any]) {
    self.init(code, userInfo[NSLocalizedDescriptionKey] as? String ?? "")
  }

  /// The error of an `NSError`; a number that has no name becomes `unknown`.
  public init(_nsError error: NSError) {
    self.init(Code(rawValue: error.code) ?? .unknown, userInfo: error.userInfo)
  }

  /// The error as an `NSError`.
  public var _nsError: NSError { self as NSError }

  /// The message under `NSLocalizedDescriptionKey`.
  public var userInfo: [String: Any] { errorUserInfo }

  static func invalid(_ message: String) -> FirestoreErrorCode { FirestoreErrorCode(.invalidArgument, message) }
}

extension FirestoreErrorCode.Code {
  /// Lets `catch FirestoreErrorCode.notFound` match, also an `NSError` of ``FirestoreErrorDomain``.
  ///
  /// The long form `catch FirestoreErrorCode.Code.notFound` does not compile, here as in the Firebase SDK: the pattern
  /// names a case of an enumeration that is no error.
  public static func ~= (code: FirestoreErrorCode.Code, error: any Error) -> Bool {
    error.hasCode(code.rawValue, in: FirestoreErrorDomain)
  }
}

/// The codes by name, as the Firebase SDK's programs write them: `FirestoreErrorCode.notFound`.
extension FirestoreErrorCode {
  /// No failure.
  public static var OK: Code { .OK }
  /// The operation was cancelled.
  public static var cancelled: Code { .cancelled }
  /// A failure without a specific code.
  public static var unknown: Code { .unknown }
  /// The request can never succeed as it is.
  public static var invalidArgument: Code { .invalidArgument }
  /// The operation took too long.
  public static var deadlineExceeded: Code { .deadlineExceeded }
  /// The document or database does not exist.
  public static var notFound: Code { .notFound }
  /// A document that must not exist does.
  public static var alreadyExists: Code { .alreadyExists }
  /// The security rules do not allow this.
  public static var permissionDenied: Code { .permissionDenied }
  /// A quota is used up.
  public static var resourceExhausted: Code { .resourceExhausted }
  /// The database is not in the state that the operation needs.
  public static var failedPrecondition: Code { .failedPrecondition }
  /// A concurrent transaction was in the way.
  public static var aborted: Code { .aborted }
  /// A value is beyond the valid range.
  public static var outOfRange: Code { .outOfRange }
  /// The operation is not supported by this backend.
  public static var unimplemented: Code { .unimplemented }
  /// The backend broke one of its promises.
  public static var `internal`: Code { .internal }
  /// The backend cannot be reached.
  public static var unavailable: Code { .unavailable }
  /// Data was lost.
  public static var dataLoss: Code { .dataLoss }
  /// The caller has no valid credentials.
  public static var unauthenticated: Code { .unauthenticated }
}

/// Domain, code and message for programs that look at errors as `NSError`.
extension FirestoreErrorCode: CustomNSError, LocalizedError, CustomStringConvertible {
  /// `FirestoreErrorDomain`.
  public static var errorDomain: String { FirestoreErrorDomain }
  /// The code's number.
  public var errorCode: Int { code.rawValue }
  /// The message under `NSLocalizedDescriptionKey`.
  public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
  /// The message.
  public var errorDescription: String? { message }
  /// The code's name and the message.
  public var description: String { "\(code): \(message)" }
}

extension FirestoreErrorCode {
  /// The error of a backend under the same code; a number that has no name becomes `unknown`.
  init(_ error: FirestoreServiceError) { self.init(Code(rawValue: error.code.rawValue) ?? .unknown, error.message) }
}
