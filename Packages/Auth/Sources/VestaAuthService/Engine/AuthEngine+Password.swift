public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  // MARK: Sign-up

  /// Makes an account with a password, an anonymous account, or adds a password to the account of an ID token.
  public func signUp(
    _ request: SignUpRequest, context: CallContext
  ) async throws(IdentityError) -> SignUpResponse {
    try await answer {
      let parts = [request.idToken, request.email, request.password]
      if parts.allSatisfy({ $0?.isEmpty ?? true }) { return try await signUpAnonymously(request, context) }
      return try await signUpWithPassword(request, context)
    }
  }

  private func signUpAnonymously(
    _ request: SignUpRequest, _ context: CallContext
  ) async throws -> SignUpResponse {
    try Checks.profile(request.displayName, request.photoURL)
    let grant = try await write { transaction in
      let scope = try await self.scope(context.tenantID, in: transaction)
      guard scope.signIn.allowsAnonymous else { throw IdentityError(.adminOnlyOperation) }
      var user = try self.newAccount(self.newLocalID())
      user.displayName = request.displayName
      user.photoURL = request.photoURL
      return try await self.signIn(user, replacing: nil, provider: "anonymous", scope: scope, in: transaction)
    }
    return try await response(grant)
  }

  private func signUpWithPassword(
    _ request: SignUpRequest, _ context: CallContext
  ) async throws -> SignUpResponse {
    let presented = request.idToken.flatMap { $0.isEmpty ? nil : $0 }
    let proof = presented == nil ? nil : try await proof(presented, context: context)
    // The order of checks asks for the look-up before the password, and the hash is made outside of the transaction.
    let email = try await read { reader in
      let scope = try await self.scope(proof?.tenantID ?? context.tenantID, in: reader)
      let text = try Checks.present(request.email, or: .missingEmail)
      let password = try Checks.present(request.password, or: .missingPassword)
      guard scope.signIn.allowsPasswords else { throw IdentityError(.operationNotAllowed) }
      let email = try Checks.email(text)
      if let owner = try await reader.text(Keys.email(scope.tenant, email)), owner != proof?.localID {
        throw IdentityError(.emailExists)
      }
      try Checks.profile(request.displayName, request.photoURL)
      try scope.config.passwordPolicy.check(password)
      return email
    }
    let hash = try await hashPassword(request.password ?? "")
    let (grant, recovery) = try await write { transaction -> (Grant, OobMessage?) in
      if let proof {
        return try await self.addPassword(hash, email: email, request, proof: proof, in: transaction)
      }
      let scope = try await self.scope(context.tenantID, in: transaction)
      var user = try self.newAccount(self.newLocalID())
      user.email = email
      user.displayName = request.displayName
      user.photoURL = request.photoURL
      user.setPassword(hash, now: self.now)
      return (
        try await self.signIn(user, replacing: nil, provider: "password", scope: scope, in: transaction), nil
      )
    }
    if let recovery { try await deliver(recovery, settings: OobLinkSettings(), context) }
    return try await response(grant)
  }

  /// Adds an address and a password to an account: an upgrade of an anonymous one, or a link.
  private func addPassword(
    _ hash: String, email: String, _ request: SignUpRequest, proof: Proof, in transaction: any StoreTransaction
  ) async throws -> (Grant, OobMessage?) {
    let caller = try await caller(proof, in: transaction)
    var user = caller.user
    try checkNewEmail(email, caller)
    if user.passwordHash != nil || (user.email ?? email) != email { user.revokeTokens(now: now) }
    if user.email != email { user.emailVerified = false }
    user.email = email
    user.displayName = request.displayName ?? user.displayName
    user.photoURL = request.photoURL ?? user.photoURL
    user.setPassword(hash, now: now)
    // An account that had no address changes none: its sessions stay.
    let recovery =
      caller.user.email == nil ? nil : try await recovery(of: &user, from: caller.user, caller.scope, in: transaction)
    if user.epoch != caller.user.epoch {
      try await transaction.forgetOldSessions(of: user, tenant: caller.scope.tenant)
    }
    return (try await link(user, to: caller, provider: "password", in: transaction), recovery)
  }

  /// Refuses to add an address that the caller's account cannot take at once.
  func checkNewEmail(_ email: String, _ caller: Caller) throws {
    try requireRecentSignInToLink(caller)
    guard (caller.user.email ?? email) == email || !caller.scope.config.hidesEmails else { throw Self.verifyFirst }
  }

  private func response(_ grant: Grant) async throws -> SignUpResponse {
    SignUpResponse(
      localID: grant.user.localID, email: grant.user.email, displayName: grant.user.displayName,
      tokens: try await tokens(grant))
  }

  static var verifyFirst: IdentityError {
    IdentityError(.operationNotAllowed, "Please verify the new email before changing email.")
  }

  // MARK: Sign-in

  /// Signs in with an e-mail address and a password.
  public func signInWithPassword(
    _ request: PasswordSignInRequest, context: CallContext
  ) async throws(IdentityError) -> PasswordSignInResponse {
    try await answer {
      let candidate = try await candidate(request, context)
      let present = try candidate.user?.passwordHash.map { try PasswordHash(text: $0) }
      let isRight = try await isPassword(request.password, present, signerKeyID: candidate.user?.signerKeyID)
      let refusal = candidate.scope.config.hidesEmails ? IdentityError.Code.invalidLoginCredentials : .invalidPassword
      guard isRight, let user = candidate.user else { throw IdentityError(refusal) }
      let policy = candidate.scope.config.passwordPolicy
      if policy.isEnforced, policy.forcesUpgradeOnSignIn { try policy.check(request.password) }
      let isOutdated = present?.needsRehash(preferring: options.passwordScheme) ?? false
      let newHash = isOutdated ? try await hashPassword(request.password) : nil
      let first = try await write { transaction in
        let scope = try await self.scope(context.tenantID, in: transaction)
        // The password may have been changed while this one was being compared.
        guard let now = try await transaction.user(scope.tenant, user.localID), now.passwordHash == user.passwordHash,
          now.email == user.email
        else { throw IdentityError(refusal) }
        guard !now.disabled else { throw IdentityError(.userDisabled) }
        var user = now
        if let newHash {
          user.passwordHash = newHash
          user.signerKeyID = nil
        }
        return try await self.finishFirstFactor(
          user, replacing: now, provider: "password", scope: scope, in: transaction)
      }
      forgiveGuesses(candidate.email, scope: candidate.scope, context: context)
      return PasswordSignInResponse(
        localID: user.localID, email: candidate.email, displayName: user.displayName, outcome: try await outcome(first))
    }
  }

  private struct Candidate: Sendable {
    var scope: Scope
    var email: String
    var user: UserRecord?
  }

  /// The account that a password is to be compared with; `nil` where there is none and that is hidden.
  private func candidate(
    _ request: PasswordSignInRequest, _ context: CallContext
  ) async throws -> Candidate {
    try await read { reader in
      let scope = try await self.scope(context.tenantID, in: reader)
      guard scope.signIn.allowsPasswords else { throw IdentityError(.passwordLoginDisabled) }
      let email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
      _ = try Checks.present(request.password, or: .missingPassword)
      try self.takeGuess(email, scope: scope, context: context)
      let user = try await reader.user(scope.tenant, email: email)
      if user?.disabled == true { throw IdentityError(.userDisabled) }
      if user == nil, !scope.config.hidesEmails { throw IdentityError(.emailNotFound) }
      return Candidate(scope: scope, email: email, user: user)
    }
  }

  // MARK: Hashes

  /// Hashes a password the way that new ones are hashed; never inside a transaction.
  func hashPassword(_ password: String) async throws -> String {
    try await crypto.hashPassword(password, scheme: options.passwordScheme, signerKey: nil).text
  }

  /// Compares a password; where there is none to compare with, does the same work in vain, so that the time does not
  /// tell.
  private func isPassword(_ password: String, _ hash: PasswordHash?, signerKeyID: String?) async throws -> Bool {
    guard password.utf8.count <= Checks.longestPassword else { return false }
    guard let hash else {
      let nobody = try PasswordHash(
        scheme: options.passwordScheme, salt: try crypto.randomBytes(count: 16),
        digest: try crypto.randomBytes(count: 32))
      _ = try? await crypto.verifyPassword(password, against: nobody, signerKey: nil)
      return false
    }
    return try await crypto.verifyPassword(password, against: hash, signerKey: try await signerKey(signerKeyID))
  }

  private func signerKey(_ id: String?) async throws -> SecretBytes? {
    guard let id else { return nil }
    return try await read { try await $0.get(Keys.signerKey(id)) }.map(SecretBytes.init)
  }
}
