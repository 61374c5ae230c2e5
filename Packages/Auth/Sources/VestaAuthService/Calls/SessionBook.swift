import VestaAuthBackend
import VestaStoreInterop

/// The sessions of a call that writes: opening one for an account after its factors, and making room for it.
struct SessionBook {
  let call: AuthWriteCall

  private var options: AuthServiceOptions { call.options }
  private var scope: Scope { call.scope }
  private var tenant: TenantKey { call.tenant }
  private var now: Int64 { call.now }
  private var transaction: any StoreTransaction { call.transaction }

  /// Keeps an account after its first factor, and opens a session unless a second factor has to follow.
  func finishFirstFactor(
    _ user: UserRecord, replacing old: UserRecord?, provider: String
  ) async throws -> FirstFactorOutcome {
    guard !user.factors.isEmpty, scope.signIn.mfaState != .disabled else {
      if let refusal = refusalWithoutFactor(of: old) { throw refusal }
      return try await openFirstSession(of: user, replacing: old, provider: provider)
    }
    try await call.save(user, replacing: old)
    var ticket = call.newTicket(.mfaPending, for: user, lifetime: options.secondFactorLifetime)
    ticket.facts = SessionFacts(provider: provider, authTime: call.nowSeconds)
    let credential = try await call.tickets.keep(ticket, secretLength: 64)
    return .pending(PendingSecondFactor(mfaPendingCredential: credential, factors: user.redactedFactors))
  }

  /// Keeps an account as the blocking functions of the project say, and opens a session unless they have disabled it.
  func openFirstSession(
    of user: UserRecord, replacing old: UserRecord?, provider: String
  ) async throws -> FirstFactorOutcome {
    var user = user
    let claims = try await call.askBlockingFunctions(&user, replacing: old, provider: provider)
    guard !user.disabled else {
      try await call.save(user, replacing: old)
      return .refused(AuthServiceError(.userDisabled))
    }
    return .session(try await signIn(user, replacing: old, provider: provider, claims: claims))
  }

  /// Why an account without a second factor cannot sign in again, where every account has to have one.
  ///
  /// The first session, that of the sign-up, is there to add the factor.
  func refusalWithoutFactor(of old: UserRecord?) -> AuthServiceError? {
    guard scope.signIn.mfaState == .mandatory, let old, old.factors.isEmpty else { return nil }
    return AuthServiceError(
      .operationNotAllowed,
      """
      The project demands a second factor, and the account has none. Add it in the first session after the sign-up, or \
      have an administrator add one.
      """)
  }

  /// Keeps an account that signs in now, and opens a session.
  func signIn(
    _ user: UserRecord, replacing old: UserRecord?, provider: String, claims: String? = nil,
    secondFactor: SessionFacts.SecondFactor? = nil
  ) async throws -> Grant {
    var user = user
    user.lastLoginAt = now
    user.lastRefreshAt = now
    let facts = SessionFacts(provider: provider, authTime: call.nowSeconds, claims: claims, secondFactor: secondFactor)
    return try await openSession(of: user, replacing: old, facts: facts)
  }

  /// Keeps an account to which the caller has added a way to sign in, and opens a session for it.
  ///
  /// The time of the sign-in stays the caller's: adding something proves nothing about the account itself.
  func link(_ user: UserRecord, to caller: Caller, provider: String) async throws -> Grant {
    var user = user
    user.lastRefreshAt = now
    var facts = caller.facts
    facts.provider = provider
    return try await openSession(of: user, replacing: caller.user, facts: facts)
  }

  /// Keeps an account, and opens a session for it; its other sessions end when its epoch is another one.
  ///
  /// The ID token is signed while the store commits, as both take long and neither needs the other. It is handed out
  /// after the commit only; one of a commit that fails is dropped.
  func openSession(of user: UserRecord, replacing old: UserRecord?, facts: SessionFacts) async throws -> Grant {
    var user = user
    if let old, user.epoch != old.epoch { try await transaction.forgetOldSessions(of: user, tenant: tenant) }
    try await makeRoom(for: &user)
    try await call.save(user, replacing: old)
    let token = SessionToken(secret: try call.core.secrets.secret(length: 86), tenant: tenant, localID: user.localID)
    let key = Keys.session(tenant, user.localID, try call.core.secrets.hash(token.text))
    try await transaction.put(SessionRecord(epoch: user.epoch, facts: facts), key)
    var grant = Grant(user: user, tenantID: scope.tenantID, facts: facts, refreshToken: token.text)
    // Detached: writes of the key ring are no part of this transaction.
    grant.signing = Task.detached { [grant, core = call.core] in try await core.idToken(grant) }
    return grant
  }

  /// Counts one more session of an account, and forgets old ones where there are too many.
  private func makeRoom(for user: inout UserRecord) async throws {
    let limit = max(1, options.sessionLimit)
    if user.sessionCount >= limit {
      // A sweep looks at all of them, so it makes room for many at once.
      let kept = try await transaction.keepSessions(of: user, tenant: tenant, atMost: limit - limit / 10 - 1)
      user.sessionCount = Int64(kept)
    }
    user.sessionCount += 1
  }
}
