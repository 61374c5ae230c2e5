import VestaAuthBackend

extension MultiFactorResolver {
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
