public import Foundation

/// The error of Auth's operations.
///
/// It reads like the `NSError` that Firebase's SDK throws: `(error as NSError).code`, `.domain` and `.userInfo` have
/// the numbers and keys of Firebase.
///
/// ```swift
/// do {
///   try await auth.signIn(withEmail: email, password: password)
/// } catch AuthErrorCode.secondFactorRequired {
///   …
/// } catch let error as AuthError {
///   print(error.code, error.message)
/// }
/// ```
///
/// It is a class, so that a cast to its code matches: `catch let code as AuthErrorCode`, `error as? AuthErrorCode`.
public final class AuthError: CustomNSError, LocalizedError, Sendable, CustomStringConvertible {
  /// Why the operation failed.
  public let code: AuthErrorCode

  /// The cause, and the way to mend it; no passwords, codes or tokens in it.
  public let message: String

  /// The underlying error.
  public let underlying: (any Error)?

  private let details: Details

  /// An error.
  ///
  /// - Parameters:
  ///   - code: Why the operation failed.
  ///   - message: The cause and the remedy; the meaning of the code where there is nothing to add.
  ///   - underlying: The underlying error.
  public convenience init(_ code: AuthErrorCode, _ message: String? = nil, underlying: (any Error)? = nil) {
    self.init(code, message, underlying: underlying, details: Details())
  }

  init(_ code: AuthErrorCode, _ message: String? = nil, underlying: (any Error)? = nil, details: Details) {
    self.code = code
    self.message = message ?? code.message
    self.underlying = underlying
    self.details = details
  }

  /// The same error with other details.
  func with(_ change: (inout Details) -> Void) -> AuthError {
    var details = details
    change(&details)
    return AuthError(code, message, underlying: underlying, details: details)
  }

  // MARK: Details

  /// Details that only some errors have.
  struct Details: Sendable {
    var email: String?
    var updatedCredential: AuthCredential?
    var resolver: MultiFactorResolver?
    var failureReason: String?
  }

  /// The e-mail address that the error is about, when the backend named one.
  public var email: String? { details.email }

  /// The credential with which the user can sign in after all, when there is one.
  ///
  /// Of an error with `credentialAlreadyInUse`, `emailAlreadyInUse` or `accountExistsWithDifferentCredential`.
  public var updatedCredential: AuthCredential? { details.updatedCredential }

  /// The resolver that continues a sign-in with a second factor.
  ///
  /// Of an error with `secondFactorRequired`.
  public var resolver: MultiFactorResolver? { details.resolver }

  /// The requirement that a password does not meet, when the backend named one.
  ///
  /// Of an error with `weakPassword`; under `NSLocalizedFailureReasonErrorKey` in the dictionary of the `NSError`.
  public var failureReason: String? { details.failureReason }

  /// The code and the message.
  public var description: String { "\(code) (\(code.rawValue)): \(message)" }

  // MARK: As an NSError

  /// `AuthErrorDomain`.
  public static var errorDomain: String { AuthErrorDomain }

  /// The number of the code.
  public var errorCode: Int { code.rawValue }

  /// The message.
  public var errorDescription: String? { message }

  /// The name of the code, the message, and what else the error knows, under Firebase's keys.
  public var errorUserInfo: [String: Any] {
    var info: [String: Any] = [
      NSLocalizedDescriptionKey: message,
      AuthErrorUserInfoNameKey: code.name,
    ]
    info[NSLocalizedFailureReasonErrorKey] = failureReason
    info[AuthErrorUserInfoEmailKey] = email
    info[AuthErrorUserInfoUpdatedCredentialKey] = updatedCredential
    info[AuthErrorUserInfoMultiFactorResolverKey] = resolver
    info[NSUnderlyingErrorKey] = underlying
    return info
  }
}

extension AuthError {
  /// The refusal of a new password that is empty, which needs no backend.
  static var emptyNewPassword: AuthError {
    AuthError(.weakPassword, "The password is empty.", details: Details(failureReason: "Missing password"))
  }
}
