import VestaAuthBackend

/// The second factors of a user.
///
/// ```swift
/// let session = try await user.multiFactor.session()
/// let secret = try await TOTPMultiFactorGenerator.generateSecret(with: session)
/// // The user puts the secret into an authenticator app, which shows a code.
/// let assertion = TOTPMultiFactorGenerator.assertionForEnrollment(with: secret, oneTimePassword: code)
/// try await user.multiFactor.enroll(with: assertion, displayName: "my phone")
/// ```
public final class MultiFactor: Sendable {
  let user: User

  init(user: User) { self.user = user }

  /// The second factors that the user has.
  public var enrolledFactors: [MultiFactorInfo] { AuthActor.sync { user.record.factors.map(\.info) } }

  /// The session of an enrolment.
  ///
  /// - Returns: The session.
  /// - Throws: ``AuthError`` when the user's token cannot be refreshed.
  public func session() async throws -> MultiFactorSession {
    _ = try await AuthActor.run { [user] in try await user.currentTokens() }
    return MultiFactorSession(.enrollment(user))
  }

  /// Adds a second factor.
  ///
  /// - Parameters:
  ///   - assertion: The proof that the user has it.
  ///   - displayName: The user's name for the factor.
  /// - Throws: ``AuthError``: `invalidVerificationCode`, `secondFactorAlreadyEnrolled`, `sessionExpired`. The user has
  ///   the factors that were there before.
  public func enroll(with assertion: MultiFactorAssertion, displayName: String?) async throws {
    let proof = try enrollmentProof(assertion)
    try await change { idToken, backend, context throws(AuthServiceError) in
      let request = FinalizeMfaEnrollmentRequest(idToken: idToken, displayName: displayName, proof: proof)
      return try await backend.finalizeMfaEnrollment(request, context: context)
    }
  }

  private func enrollmentProof(
    _ assertion: MultiFactorAssertion
  ) throws(AuthError) -> FinalizeMfaEnrollmentRequest.Proof {
    switch assertion {
    case let assertion as PhoneMultiFactorAssertion:
      guard case .code(let sessionInfo, let code) = assertion.credential.proof else { break }
      return .phone(sessionInfo: sessionInfo, code: code)
    case let assertion as TOTPMultiFactorAssertion:
      guard case .enrollment(let secret, let code) = assertion.proof else { break }
      return .totp(sessionInfo: secret.message.sessionInfo, code: code)
    default: break
    }
    throw AuthError(.missingMultiFactorInfo, "The assertion is not one to add a second factor with.")
  }

  /// Takes a second factor away.
  ///
  /// - Parameter factorInfo: The factor.
  /// - Throws: ``AuthError``: `multiFactorInfoNotFound`, `requiresRecentLogin`.
  public func unenroll(with factorInfo: MultiFactorInfo) async throws {
    try await unenroll(withFactorUID: factorInfo.uid)
  }

  /// Takes a second factor away.
  ///
  /// - Parameter factorUID: Names the factor.
  /// - Throws: ``AuthError``: `multiFactorInfoNotFound`, `requiresRecentLogin`.
  public func unenroll(withFactorUID factorUID: String) async throws {
    try await change { idToken, backend, context throws(AuthServiceError) in
      let request = WithdrawMfaEnrollmentRequest(idToken: idToken, mfaEnrollmentID: factorUID)
      return try await backend.withdrawMfaEnrollment(request, context: context)
    }
  }

  private func change(_ operation: @escaping User.Operation<AuthTokens>) async throws {
    try await AuthActor.run { [user] in
      _ = try await user.change(bringing: { $0 }, operation)
      try await user.lookUp()
    }
  }
}
