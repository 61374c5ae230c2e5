import VestaAuthBackend
import VestaServiceInterop

// Sign-in with the code of an e-mail link.

extension SignInOperation {
  func signInWithEmailLink(_ request: EmailLinkSignInRequest) async throws -> EmailLinkSignInResponse {
    let proof = try await optionalProof(request.idToken)
    let signIn = try await writeAsking(for: proof, method: "emailLink") { call in
      try await call.signInWithEmailLink(request, try await call.caller(proof))
    }.get()
    try await deliver(signIn.recovery)
    return EmailLinkSignInResponse(
      localID: signIn.localID, email: signIn.email, isNewUser: signIn.isNew,
      outcome: try await outcome(signIn.first))
  }
}

/// A sign-in by e-mail link, within its transaction.
private struct LinkedSignIn: Sendable {
  var first: FirstFactorOutcome
  var localID: String
  var email: String
  var isNew: Bool
  /// Sent to the old mailbox after a change of the address.
  var recovery: OobMessage?
}

extension AuthWriteCall {
  fileprivate func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, _ caller: Caller?
  ) async throws -> Result<LinkedSignIn, AuthServiceError> {
    guard scope.signIn.allowsEmailLinks else { throw AuthServiceError(.operationNotAllowed) }
    let email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
    let code = try Checks.present(request.oobCode, or: .missingOobCode)
    let (ticket, type) = try await oobTicket(code)
    guard type == .emailSignIn else { throw AuthServiceError(.invalidOobCode) }
    guard ticket.email == email else {
      throw AuthServiceError(.invalidEmail, "The email provided does not match the sign-in email address.")
    }
    if let caller { try checkNewEmail(email, caller) }
    try await tickets.consume(code, ticket)
    let owner = try await user(email: email)
    if let caller { return try await add(email, to: caller, owner) }
    return try await signIn(email, owner)
  }

  private func signIn(_ email: String, _ owner: UserRecord?) async throws -> Result<LinkedSignIn, AuthServiceError> {
    if owner?.disabled == true { return .failure(AuthServiceError(.userDisabled)) }
    var user = try owner ?? newAccount()
    if let owner, !owner.emailVerified { user.ownershipWasProven(now: now) }
    user.email = email
    user.emailVerified = true
    user.emailLinkSignIn = true
    let first = try await sessions.finishFirstFactor(user, replacing: owner, provider: "password")
    return .success(LinkedSignIn(first: first, localID: user.localID, email: email, isNew: owner == nil))
  }

  /// Adds the address, which the code has proven, to the account of the caller.
  private func add(
    _ email: String, to caller: Caller, _ owner: UserRecord?
  ) async throws -> Result<LinkedSignIn, AuthServiceError> {
    if let owner, owner.localID != caller.user.localID { return .failure(AuthServiceError(.emailExists)) }
    var user = caller.user
    user.email = email
    user.emailVerified = true
    user.emailLinkSignIn = true
    let recovery = try await recoveryOfReplaced(&user, caller)
    let grant = try await sessions.link(user, to: caller, provider: "password")
    return .success(
      LinkedSignIn(
        first: .session(grant), localID: user.localID, email: email, isNew: false, recovery: recovery))
  }
}
