public import VestaServiceInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  private struct LinkedSignIn: Sendable {
    var first: FirstFactor
    var localID: String
    var email: String
    var isNew: Bool
    /// Goes to the old mailbox after a change of the address.
    var recovery: OobMessage?
  }

  /// Signs in with the code of an e-mail link, or adds the address to the account of an ID token.
  public func signInWithEmailLink(
    _ request: EmailLinkSignInRequest, context: CallContext
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
        if let caller { try self.checkNewEmail(email, caller) }
        try await self.consume(code, ticket, in: transaction)
        return try await self.signIn(email, caller, scope, in: transaction)
      }
      if let message = signIn.recovery { try await deliver(message, settings: OobLinkSettings(), context) }
      return EmailLinkSignInResponse(
        localID: signIn.localID, email: signIn.email, isNewUser: signIn.isNew,
        outcome: try await outcome(signIn.first))
    }
  }

  private func signIn(
    _ email: String, _ caller: Caller?, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> Result<LinkedSignIn, IdentityError> {
    let owner = try await transaction.user(scope.tenant, email: email)
    if let caller { return try await add(email, to: caller, owner, in: transaction) }
    if owner?.disabled == true { return .failure(IdentityError(.userDisabled)) }
    var user = try owner ?? newAccount(newLocalID())
    if let owner, !owner.emailVerified { user.ownershipWasProven(now: now) }
    user.email = email
    user.emailVerified = true
    user.emailLinkSignIn = true
    let first = try await finishFirstFactor(
      user, replacing: owner, provider: "password", scope: scope, in: transaction)
    return .success(LinkedSignIn(first: first, localID: user.localID, email: email, isNew: owner == nil))
  }

  /// Adds the address, which the code has proven, to the account of the caller.
  private func add(
    _ email: String, to caller: Caller, _ owner: UserRecord?, in transaction: any StoreTransaction
  ) async throws -> Result<LinkedSignIn, IdentityError> {
    if let owner, owner.localID != caller.user.localID { return .failure(IdentityError(.emailExists)) }
    var user = caller.user
    user.email = email
    user.emailVerified = true
    user.emailLinkSignIn = true
    // An account that had no address changes none: its sessions stay.
    let recovery =
      caller.user.email == nil ? nil : try await recovery(of: &user, from: caller.user, caller.scope, in: transaction)
    if user.epoch != caller.user.epoch {
      try await transaction.forgetOldSessions(of: user, tenant: caller.scope.tenant)
    }
    let grant = try await link(user, to: caller, provider: "password", in: transaction)
    return .success(
      LinkedSignIn(
        first: .session(grant), localID: user.localID, email: email, isNew: false, recovery: recovery))
  }
}
