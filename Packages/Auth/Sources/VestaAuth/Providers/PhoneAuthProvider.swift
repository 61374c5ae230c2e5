import VestaAuthBackend

/// Presents sign-in pages on platforms that have them; nothing here needs one.
public protocol AuthUIDelegate: Sendable {}

/// Sends codes to phones, and makes credentials of them.
///
/// ```swift
/// let provider = PhoneAuthProvider.provider()
/// let id = try await provider.verifyPhoneNumber("+49301234567")
/// let credential = provider.credential(withVerificationID: id, verificationCode: code)
/// try await Auth.auth().signIn(with: credential)
/// ```
public final class PhoneAuthProvider: Sendable {
  /// The provider id.
  public static let id = PhoneAuthProviderID

  let auth: Auth

  private init(_ auth: Auth) { self.auth = auth }

  /// A provider for the default app.
  public class func provider() -> PhoneAuthProvider { PhoneAuthProvider(Auth.auth()) }

  /// A provider.
  ///
  /// - Parameter auth: The instance whose users sign in.
  /// - Returns: The provider.
  public class func provider(auth: Auth) -> PhoneAuthProvider { PhoneAuthProvider(auth) }

  // MARK: Sending a code

  /// Sends a code to a phone: to sign in, to link, or for a second factor.
  ///
  /// - Parameters:
  ///   - phoneNumber: The number in the international form, such as "+49301234567".
  ///   - uiDelegate: Of no use here.
  ///   - multiFactorSession: The session of a second factor that is being added; `nil` to sign in or to link.
  /// - Returns: The id of the verification.
  /// - Throws: ``AuthError``: `missingPhoneNumber`, `invalidPhoneNumber`, `tooManyRequests`.
  public func verifyPhoneNumber(
    _ phoneNumber: String, uiDelegate: (any AuthUIDelegate)? = nil, multiFactorSession: MultiFactorSession? = nil
  ) async throws -> String {
    guard !phoneNumber.isEmpty else { throw AuthError(.missingPhoneNumber) }
    guard let multiFactorSession else {
      return try await auth.perform { backend, context throws(AuthServiceError) in
        try await backend.sendVerificationCode(
          SendVerificationCodeRequest(phoneNumber: phoneNumber), context: context
        ).sessionInfo
      }
    }
    return try await multiFactorSession.startEnrollment(phoneNumber: phoneNumber)
  }

  /// Sends a code to the phone of a second factor, to continue with a sign-in.
  ///
  /// - Parameters:
  ///   - multiFactorInfo: The second factor, one of the hints of the resolver.
  ///   - uiDelegate: Of no use here.
  ///   - multiFactorSession: The session of the resolver.
  /// - Returns: The id of the verification.
  /// - Throws: ``AuthError``: `missingMultiFactorSession` without a session, `multiFactorInfoNotFound`.
  public func verifyPhoneNumber(
    with multiFactorInfo: PhoneMultiFactorInfo, uiDelegate: (any AuthUIDelegate)? = nil,
    multiFactorSession: MultiFactorSession?
  ) async throws -> String {
    guard let multiFactorSession else { throw AuthError(.missingMultiFactorSession) }
    return try await multiFactorSession.startSignIn(factorUID: multiFactorInfo.uid)
  }

  // MARK: Using a code

  /// A phone number with the code that was sent to it.
  ///
  /// - Parameters:
  ///   - verificationID: The id of the verification.
  ///   - verificationCode: The code.
  /// - Returns: The credential.
  public func credential(withVerificationID verificationID: String, verificationCode: String) -> PhoneAuthCredential {
    PhoneAuthCredential(.code(sessionInfo: verificationID, code: verificationCode))
  }
}
