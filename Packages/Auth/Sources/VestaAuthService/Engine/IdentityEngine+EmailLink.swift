public import VestaAuthBackend
import VestaStoreInterop

extension IdentityEngine {
  private struct LinkedSignIn: Sendable {
    var first: FirstFactor
    var localID: String
    var isNew: Bool
  }

  /// Signs in with the code of an e-mail link, or adds the address to the account of an ID token.
  public func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: IdentityCallContext
  ) async throws(IdentityError) -> EmailLinkSignInResponse {
    try await answer {
      let proof = request.idToken == nil ? nil : try await proof(request.idToken, context: context)
      let signIn = try await writeKeeping { transaction in
        let scope = try await self.scope(proof?.tenantID ?? context.tenantID, in: transaction)
        guard scope.signIn.allowsEmailLinks else { throw IdentityError(.operationNotAllowed) }
        let email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
        let code = try Checks.present(request.oobCode, or: .missingOobCode)
        let (ticket, type) = try await self.oobTicket(code, scope: scope, in: transaction)
        guard type == .emailSignIn else { throw IdentityError(.invalidOobCode) }
        guard ticket.email == email else {
          throw IdentityError(.invalidEmail, "The email provided does not match the sign-in email address.")
        }
        let caller = try await self.optionalCaller(proof, in: transaction)
        try await self.consume(code, ticket, in: transaction)
        return try await self.signIn(email, caller, scope, in: transaction)
      }
      return EmailLinkSignInResponse(
        localID: signIn.localID, email: request.email.lowercased(), isNewUser: signIn.isNew,
        outcome: try await outcome(signIn.first))
    }
  }

  private func signIn(
    _ email: String, _ caller: Caller?, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> Result<LinkedSignIn, IdentityError> {
    let owner = try await transaction.user(scope.tenant, email: email)
    if let caller, let owner, owner.localID != caller.user.localID { return .failure(IdentityError(.emailExists)) }
    if owner?.disabled == true { return .failure(IdentityError(.userDisabled)) }
    let old = caller?.user ?? owner
    var user = try old ?? UserRecord(localID: newLocalID(), createdAt: now)
    if let owner, caller == nil, !owner.emailVerified {
      // Somebody without this mailbox may have made the account: what he set is not to be trusted.
      user.removePassword()
      user.providers = []
      user.revokeTokens(now: now)
    }
    user.email = email
    user.emailVerified = true
    user.emailLinkSignIn = true
    let first: FirstFactor
    if let caller {
      first = .session(
        try await signIn(
          user, replacing: old, provider: "password", scope: scope, claims: caller.facts.claims,
          secondFactor: caller.facts.secondFactor, in: transaction))
    } else {
      first = try await finishFirstFactor(user, replacing: old, provider: "password", scope: scope, in: transaction)
    }
    return .success(LinkedSignIn(first: first, localID: user.localID, isNew: old == nil))
  }
}
