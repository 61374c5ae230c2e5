import VestaAuthBackend

/// Goes on with a sign-in that needs a second factor.
///
/// ```swift
/// do {
///   try await auth.signIn(withEmail: email, password: password)
/// } catch let error as AuthError where error.code == .secondFactorRequired {
///   guard let resolver = error.resolver, let hint = resolver.hints.first else { throw error }
///   let assertion = TOTPMultiFactorGenerator.assertionForSignIn(withEnrollmentID: hint.uid, oneTimePassword: code)
///   try await resolver.resolveSignIn(with: assertion)
/// }
/// ```
public final class MultiFactorResolver: Sendable {
  /// The session to request a code with, see
  /// `PhoneAuthProvider.verifyPhoneNumber(with:uiDelegate:multiFactorSession:)`.
  public let session: MultiFactorSession

  /// The second factors that will do.
  public let hints: [MultiFactorInfo]

  /// The service that the user signs in to.
  public let auth: Auth

  /// The tenant in which the sign-in began; the app may have set another one since.
  private let tenantID: String?
  private let pendingCredential: String
  private let firstFactor: FirstFactor
  private let user: User?

  init(auth: Auth, tenantID: String?, pending: PendingSecondFactor, firstFactor: FirstFactor, user: User?) {
    self.auth = auth
    self.tenantID = tenantID
    self.firstFactor = firstFactor
    self.user = user
    pendingCredential = pending.mfaPendingCredential
    session = MultiFactorSession(
      .signIn(auth, tenantID: tenantID, pendingCredential: pending.mfaPendingCredential))
    hints = pending.factors.map { FactorRecord($0).info }
  }

  /// Finishes the sign-in, or the re-authentication, that needed the second factor.
  ///
  /// - Parameter assertion: The proof that the user has one of the factors.
  /// - Returns: The user, who is now the current user.
  /// - Throws: ``AuthError``: `invalidVerificationCode`, `sessionExpired`. The resolver can be used again.
  @discardableResult
  public func resolveSignIn(with assertion: MultiFactorAssertion) async throws -> AuthDataResult {
    let proof = try signInProof(assertion)
    let pendingCredential = pendingCredential
    let tokens = try await auth.perform(inTenant: tenantID) { backend, context throws(AuthServiceError) in
      let request = FinalizeMfaSignInRequest(mfaPendingCredential: pendingCredential, proof: proof)
      return try await backend.finalizeMfaSignIn(request, context: context)
    }
    return try await AuthActor.run { [self] in
      if let user { return try await user.finishReauthentication(tokens, firstFactor) }
      return try await auth.finishSignIn(tokens, firstFactor, inTenant: tenantID)
    }
  }

  private func signInProof(_ assertion: MultiFactorAssertion) throws(AuthError) -> FinalizeMfaSignInRequest.Proof {
    switch assertion {
    case let assertion as PhoneMultiFactorAssertion:
      guard case .code(let sessionInfo, let code) = assertion.credential.proof else { break }
      return .phone(sessionInfo: sessionInfo, code: code)
    case let assertion as TOTPMultiFactorAssertion:
      guard case .signIn(let enrollmentID, let code) = assertion.proof else { break }
      return .totp(mfaEnrollmentID: enrollmentID, code: code)
    default: break
    }
    throw AuthError(.missingMultiFactorInfo, "The assertion is not one to sign in with.")
  }
}
