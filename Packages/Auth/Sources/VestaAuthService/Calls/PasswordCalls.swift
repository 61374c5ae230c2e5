import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

// Accounts with a password, and anonymous ones: sign-up and sign-in.

// MARK: Sign-up

extension SignInOperation {
  func signUp(_ request: SignUpRequest) async throws -> SignUpResponse {
    let parts = [request.idToken, request.email, request.password]
    if parts.allSatisfy({ $0?.isEmpty ?? true }) { return try await signUpAnonymously(request) }
    return try await signUpWithPassword(request)
  }

  private func signUpAnonymously(_ request: SignUpRequest) async throws -> SignUpResponse {
    try Checks.profile(request.displayName, request.photoURL)
    let grant = try await write { call in
      guard call.scope.signIn.allowsAnonymous else { throw AuthServiceError(.adminOnlyOperation) }
      var user = try call.newAccount()
      user.displayName = request.displayName
      user.photoURL = request.photoURL
      return try await call.sessions.signIn(user, replacing: nil, provider: "anonymous")
    }
    return try await response(grant)
  }

  private func signUpWithPassword(_ request: SignUpRequest) async throws -> SignUpResponse {
    let presented = request.idToken.flatMap { $0.isEmpty ? nil : $0 }
    let proof = try await optionalProof(presented)
    // The order of checks asks for the look-up before the password, and the hash is made outside of the transaction.
    let email = try await read(for: proof) { call in try await call.newEmail(of: request, proof) }
    let hash = try await hashPassword(request.password ?? "") as String
    let (first, recovery) = try await writeAsking(for: proof) { call -> (FirstFactorOutcome, OobMessage?) in
      // The hash took a while, in which the address may have gone, and passwords may have been disallowed.
      _ = try await call.newEmail(of: request, proof)
      guard let proof else { return (try await call.signUp(email, hash, request), nil) }
      let (grant, recovery) = try await call.addPassword(hash, email: email, request, to: try await call.caller(proof))
      return (.session(grant), recovery)
    }
    try await deliver(recovery)
    switch first {
    case .session(let grant): return try await response(grant)
    case .refused(let error): throw error
    // A new account has no second factor.
    case .pending: throw AuthServiceError(.internalError)
    }
  }

  private func response(_ grant: Grant) async throws -> SignUpResponse {
    SignUpResponse(
      localID: grant.user.localID, email: grant.user.email, displayName: grant.user.displayName,
      tokens: try await tokens(grant))
  }
}

extension AuthCall {
  /// The address of a sign-up, if it may have an account.
  fileprivate func newEmail(of request: SignUpRequest, _ proof: Proof?) async throws -> String {
    let text = try Checks.present(request.email, or: .missingEmail)
    let password = try Checks.present(request.password, or: .missingPassword)
    guard scope.signIn.allowsPasswords else { throw AuthServiceError(.operationNotAllowed) }
    let email = try Checks.email(text)
    if let owner = try await owner(ofEmail: email), owner != proof?.localID { throw AuthServiceError(.emailExists) }
    try Checks.profile(request.displayName, request.photoURL)
    try scope.config.passwordPolicy.check(password)
    return email
  }
}

extension AuthWriteCall {
  fileprivate func signUp(_ email: String, _ hash: String, _ request: SignUpRequest) async throws -> FirstFactorOutcome
  {
    var user = try newAccount()
    user.email = email
    user.displayName = request.displayName
    user.photoURL = request.photoURL
    user.setPassword(hash, now: now)
    return try await sessions.openFirstSession(of: user, replacing: nil, provider: "password")
  }

  /// Adds an address and a password to an account: an upgrade of an anonymous one, or a link.
  fileprivate func addPassword(
    _ hash: String, email: String, _ request: SignUpRequest, to caller: Caller
  ) async throws -> (Grant, OobMessage?) {
    try checkNewEmail(email, caller)
    var user = caller.user
    // Of the account's devices, the one that sets a password is the only one that stays signed in.
    user.revokeTokens(now: now)
    if user.email != email { user.emailVerified = false }
    user.email = email
    user.displayName = request.displayName ?? user.displayName
    user.photoURL = request.photoURL ?? user.photoURL
    user.setPassword(hash, now: now)
    let recovery = try await recoveryOfReplaced(&user, caller)
    return (try await sessions.link(user, to: caller, provider: "password"), recovery)
  }

  /// The recovery of an address that a link has replaced; an account that had none has nothing to recover.
  func recoveryOfReplaced(_ user: inout UserRecord, _ caller: Caller) async throws -> OobMessage? {
    guard caller.user.email != nil else { return nil }
    return try await recovery(of: &user, from: caller.user)
  }
}

// MARK: Sign-in

extension SignInOperation {
  func signInWithPassword(_ request: PasswordSignInRequest) async throws -> PasswordSignInResponse {
    let candidate = try await read { call in try await call.candidate(request, from: context.clientAddress) }
    let guessed = candidate.user.map { GuessedAccount.password(localID: $0.localID) } ?? .absent(email: candidate.email)
    try await takeSharedGuess(guessed, tenant: candidate.tenant)
    let current = try candidate.user?.passwordHash.map { try PasswordHash(text: $0) }
    let isRight = try await isPassword(
      request.password, current, signerKeyID: candidate.user?.signerKeyID, lane: candidate.email)
    guard isRight, let user = candidate.user else { throw AuthServiceError(candidate.refusal) }
    if candidate.policy.isEnforced, candidate.policy.forcesUpgradeOnSignIn {
      try candidate.policy.check(request.password)
    }
    // A server for development often has cheap hashes, which must not take the place of good ones.
    let isWeakening = options.isDevelopment && current?.scheme == .standard
    let isOutdated = !isWeakening && current?.needsRehash(preferring: options.passwordScheme) ?? false
    let newHash = try await hashPassword(isOutdated ? request.password : nil)
    let first = try await writeAsking { call in
      try await call.guesses.forgiveSharedGuesses(guessed, from: context.clientAddress)
      return try await call.signIn(user, newHash, refusal: candidate.refusal)
    }
    forgiveGuesses(candidate.email, tenant: candidate.tenant)
    return PasswordSignInResponse(
      localID: user.localID, email: candidate.email, displayName: user.displayName, outcome: try await outcome(first))
  }

  /// Compares a password; where there is none to compare with, does the same work in vain, so that the time does not
  /// reveal it.
  private func isPassword(_ password: String, _ hash: PasswordHash?, signerKeyID: String?, lane: String) async throws
    -> Bool
  {
    guard password.utf8.count <= Checks.longestPassword else { return false }
    let nobody = try PasswordHash(
      scheme: options.passwordScheme, salt: try crypto.randomBytes(count: 16),
      digest: try crypto.randomBytes(count: 32))
    return try await core.hashing.run(for: context.clientAddress, account: lane) {
      if let hash {
        let key = try await signerKey(signerKeyID)
        if try await crypto.verifyPassword(password, against: hash, signerKey: key) { return true }
        // An imported hash may cost next to nothing, which would tell that there is an account.
        if hash.scheme == options.passwordScheme { return false }
      }
      _ = try? await crypto.verifyPassword(password, against: nobody, signerKey: nil)
      return false
    }
  }

  private func signerKey(_ id: String?) async throws -> SecretBytes? {
    guard let id else { return nil }
    return try await read(checksDisabled: false) { try await $0.reader.get(Keys.signerKey(id)) }.map(SecretBytes.init)
  }
}

/// The account that a password is to be compared with.
private struct Candidate: Sendable {
  var tenant: TenantKey
  var email: String
  /// `nil` where there is none and that is hidden.
  var user: UserRecord?
  var policy: PasswordPolicy
  /// The refusal of a wrong password.
  var refusal: AuthServiceError.Code
}

extension AuthReadCall {
  fileprivate func candidate(_ request: PasswordSignInRequest, from address: String?) async throws -> Candidate {
    guard scope.signIn.allowsPasswords else { throw AuthServiceError(.passwordLoginDisabled) }
    let email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
    let password = try Checks.present(request.password, or: .missingPassword)
    try takeGuess(email, from: address)
    // Before the account is looked for, so that the time says nothing about it.
    if scope.config.hidesEmails, password.utf8.count > Checks.longestPassword {
      throw AuthServiceError(.invalidLoginCredentials)
    }
    let user = try await user(email: email)
    if user?.disabled == true { throw AuthServiceError(.userDisabled) }
    if user == nil, !scope.config.hidesEmails { throw AuthServiceError(.emailNotFound) }
    return Candidate(
      tenant: tenant, email: email, user: user, policy: scope.config.passwordPolicy,
      refusal: scope.config.hidesEmails ? .invalidLoginCredentials : .invalidPassword)
  }
}

extension AuthWriteCall {
  /// Signs in to an account whose password was found right, unless it has changed since.
  fileprivate func signIn(
    _ compared: UserRecord, _ newHash: String?, refusal: AuthServiceError.Code
  ) async throws -> FirstFactorOutcome {
    guard let old = try await user(compared.localID), old.passwordHash == compared.passwordHash,
      old.email == compared.email
    else { throw AuthServiceError(refusal) }
    guard !old.disabled else { throw AuthServiceError(.userDisabled) }
    var user = old
    if let newHash {
      user.passwordHash = newHash
      user.signerKeyID = nil
    }
    return try await sessions.finishFirstFactor(user, replacing: old, provider: "password")
  }
}
