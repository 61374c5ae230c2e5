import VestaServiceInterop
import VestaCryptoInterop
import VestaAuthBackend
import VestaStoreInterop

/// A session that has been opened in a transaction; its ID token is signed afterwards.
struct Grant: Sendable {
  var user: UserRecord
  var tenantID: String?
  var facts: SessionFacts
  var refreshToken: String
  /// The ID token, if it is being signed already.
  var signing: Task<String, any Error>?
}

/// What a first factor came to.
enum FirstFactor: Sendable {
  case session(Grant)
  case pending(PendingSecondFactor)
}

/// An ID token that can be believed; what it says of its account is still to be compared with the account.
struct Proof: Sendable {
  var claims: JWTObject
  var localID: String
  var tenantID: String?
  var issuedAt: Int64
  /// The epoch of the account when the token was issued; `nil` in tokens of versions that did not write it.
  var epoch: Int64?
}

/// The account of an ID token, found in order.
struct Caller: Sendable {
  var user: UserRecord
  var scope: Scope
  var facts: SessionFacts
}

extension AuthEngine {
  // MARK: Opening sessions

  /// Keeps an account after its first factor, and opens a session unless a second factor has to follow.
  func finishFirstFactor(
    _ user: UserRecord, replacing old: UserRecord?, provider: String, scope: Scope,
    in transaction: any StoreTransaction
  ) async throws -> FirstFactor {
    guard !user.factors.isEmpty, scope.signIn.mfaState != .disabled else {
      if let refusal = refusalWithoutFactor(of: old, scope) { throw refusal }
      return .session(
        try await signIn(user, replacing: old, provider: provider, scope: scope, in: transaction))
    }
    try await transaction.save(user, replacing: old, tenant: scope.tenant)
    var ticket = newTicket(.mfaPending, for: user, scope: scope, lifetime: options.secondFactorLifetime)
    ticket.facts = SessionFacts(provider: provider, authTime: nowSeconds)
    let credential = try await keep(ticket, secretLength: 64, in: transaction)
    return .pending(PendingSecondFactor(mfaPendingCredential: credential, factors: user.redactedFactors))
  }

  /// Why an account without a second factor cannot sign in again, where every account has to have one.
  ///
  /// The first session, that of the sign-up, is there to add the factor.
  func refusalWithoutFactor(of old: UserRecord?, _ scope: Scope) -> IdentityError? {
    guard scope.signIn.mfaState == .mandatory, let old, old.factors.isEmpty else { return nil }
    return IdentityError(
      .operationNotAllowed,
      """
      The project demands a second factor, and the account has none. Add it in the first session after the sign-up, or \
      have an administrator add one.
      """)
  }

  /// Keeps an account that signs in now, and opens a session.
  func signIn(
    _ user: UserRecord, replacing old: UserRecord?, provider: String, scope: Scope, claims: String? = nil,
    secondFactor: SessionFacts.SecondFactor? = nil, in transaction: any StoreTransaction
  ) async throws -> Grant {
    var user = user
    let now = now
    user.lastLoginAt = now
    user.lastRefreshAt = now
    let facts = SessionFacts(provider: provider, authTime: now / 1000, claims: claims, secondFactor: secondFactor)
    return try await openSession(of: user, replacing: old, facts: facts, scope: scope, in: transaction)
  }

  /// Keeps an account to which the caller has added a way to sign in, and opens a session for it.
  ///
  /// The time of the sign-in stays the caller's: adding something proves nothing about the account itself.
  func link(
    _ user: UserRecord, to caller: Caller, provider: String, in transaction: any StoreTransaction
  ) async throws -> Grant {
    var user = user
    user.lastRefreshAt = now
    var facts = caller.facts
    facts.provider = provider
    return try await openSession(
      of: user, replacing: caller.user, facts: facts, scope: caller.scope, in: transaction)
  }

  /// Keeps an account, and opens a session for it.
  ///
  /// Its ID token is signed while the store commits, as both take long and neither needs the other. It is handed out
  /// after the commit only; one of a commit that fails is dropped.
  func openSession(
    of user: UserRecord, replacing old: UserRecord?, facts: SessionFacts, scope: Scope,
    in transaction: any StoreTransaction
  ) async throws -> Grant {
    var user = user
    try await makeRoom(for: &user, scope: scope, in: transaction)
    try await transaction.save(user, replacing: old, tenant: scope.tenant)
    let token = SessionToken(secret: try secret(length: 86), tenant: scope.tenant, localID: user.localID)
    let key = Keys.session(scope.tenant, user.localID, try hash(token.text))
    try await transaction.put(SessionRecord(epoch: user.epoch, facts: facts), key)
    var grant = Grant(user: user, tenantID: scope.tenantID, facts: facts, refreshToken: token.text)
    // Detached: what the key ring may have to write is no part of this transaction.
    grant.signing = Task.detached { [grant] in try await self.idToken(grant) }
    return grant
  }

  /// Counts one more session of an account, and forgets old ones where there are too many.
  private func makeRoom(
    for user: inout UserRecord, scope: Scope, in transaction: any StoreTransaction
  ) async throws {
    let limit = max(1, options.sessionLimit)
    if user.sessionCount >= limit {
      // A sweep looks at all of them, so it makes room for many at once.
      let kept = try await transaction.keepSessions(of: user, tenant: scope.tenant, atMost: limit - limit / 10 - 1)
      user.sessionCount = Int64(kept)
    }
    user.sessionCount += 1
  }

  /// The tokens of a session.
  func tokens(_ grant: Grant) async throws -> IdentityTokens {
    guard let signing = grant.signing else {
      return IdentityTokens(
        idToken: try await idToken(grant), refreshToken: grant.refreshToken, expiresIn: options.idTokenLifetime)
    }
    return IdentityTokens(
      idToken: try await signing.value, refreshToken: grant.refreshToken, expiresIn: options.idTokenLifetime,
      account: grant.user.view(tenantID: grant.tenantID))
  }

  private func idToken(_ grant: Grant) async throws -> String {
    let claims = TokenClaims.idToken(
      of: grant.user, tenantID: grant.tenantID, session: grant.facts, projectID: projectID, now: nowSeconds,
      lifetime: options.idTokenLifetime)
    return try JWT.sign(claims, with: try await keyRing.signer())
  }

  /// What a first factor came to, for the response.
  func outcome(_ first: FirstFactor) async throws -> SignInOutcome {
    switch first {
    case .session(let grant): .signedIn(try await tokens(grant))
    case .pending(let pending): .secondFactorRequired(pending)
    }
  }

  // MARK: Believing ID tokens

  /// Verifies an ID token without looking at its account.
  func proof(
    _ idToken: String?, context: CallContext, missing: IdentityError.Code = .missingIDToken
  ) async throws -> Proof {
    let token = try Checks.present(idToken, or: missing)
    let claims = try await verified(token, issuer: TokenClaims.issuer(projectID), or: .invalidIDToken)
    return try proof(of: claims, context: context, or: .invalidIDToken)
  }

  /// Verifies a token of ours: its signature, issuer, audience and times.
  func verified(
    _ token: String, issuer: String, or invalid: IdentityError.Code
  ) async throws -> JWTObject {
    do {
      let unverified = try JWT(unverified: token)
      let key = try await keyRing.verifier(keyID: unverified.header.keyID)
      let verifier = JWTVerifier(issuers: [issuer], audiences: [projectID], algorithms: [.rs256])
      let time = ClockTolerance.time(for: unverified.claims, now: nowSeconds)
      return try verifier.verify(token, at: time) { _ throws(CryptoError) in key }.claims
    } catch CryptoError.Code.expired where invalid == .invalidIDToken {
      throw IdentityError(.tokenExpired)
    } catch let error as CryptoError where error.code != .libraryFailure {
      throw IdentityError(invalid, "\(error.code)")
    }
  }

  func proof(
    of claims: JWTObject, context: CallContext, or invalid: IdentityError.Code
  ) throws -> Proof {
    guard let localID = claims["sub"]?.string, let issuedAt = claims["iat"]?.integer else {
      throw IdentityError(invalid)
    }
    let firebase = claims["firebase"]?.object
    let tenantID = firebase?["tenant"]?.string
    try checkTenant(tenantID, context)
    return Proof(
      claims: claims, localID: localID, tenantID: tenantID, issuedAt: issuedAt,
      epoch: firebase?[TokenClaims.epoch]?.integer)
  }

  /// Refuses a token of another tenant than that of the call.
  func checkTenant(_ tenantID: String?, _ context: CallContext) throws {
    guard let wanted = context.tenantID, !wanted.isEmpty else { return }
    guard wanted == tenantID else { throw IdentityError(.tenantIDMismatch) }
  }

  /// The account of a token, as it is now.
  func caller(_ proof: Proof, in reader: any StoreReader, checksDisabled: Bool = true) async throws -> Caller {
    let scope = try await scope(proof.tenantID, in: reader, checksDisabled: checksDisabled)
    guard let user = try await reader.user(scope.tenant, proof.localID) else { throw IdentityError(.userNotFound) }
    guard proof.isCurrent(for: user) else { throw IdentityError(.tokenExpired) }
    guard !user.disabled else { throw IdentityError(.userDisabled) }
    return Caller(user: user, scope: scope, facts: try TokenClaims.session(of: proof.claims, user: user))
  }

  /// Refuses what needs a recent sign-in.
  func requireRecentSignIn(_ caller: Caller) throws {
    guard nowSeconds - caller.facts.authTime <= options.recentSignInWindow else {
      throw IdentityError(.credentialTooOld)
    }
  }

  /// Refuses to add or remove a way to sign in without a recent sign-in.
  ///
  /// An anonymous user has nothing to sign in with again, so this session is all the proof there can be.
  func requireRecentSignInToLink(_ caller: Caller) throws {
    if !caller.user.isAnonymous { try requireRecentSignIn(caller) }
  }

  /// Refuses to change second factors without a recent sign-in that passed one, where the account has any.
  func requireRecentSignInToChangeFactors(_ caller: Caller) throws {
    try requireRecentSignIn(caller)
    guard caller.user.factors.isEmpty || caller.facts.secondFactor != nil else {
      throw IdentityError(.credentialTooOld, "Sign in with a second factor first.")
    }
  }
}

extension Proof {
  /// Whether nothing has ended the sessions of the account since the token was issued.
  fileprivate func isCurrent(for user: UserRecord) -> Bool {
    if let epoch { return epoch == user.epoch }
    return issuedAt >= user.validSince ?? 0
  }
}
