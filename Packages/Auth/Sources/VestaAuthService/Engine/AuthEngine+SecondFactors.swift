public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  // MARK: Enrolment

  /// Begins to add a second factor to the account of an ID token.
  public func startMfaEnrollment(
    _ request: StartMfaEnrollmentRequest, context: CallContext
  ) async throws(IdentityError) -> StartMfaEnrollmentResponse {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      switch request.factor {
      case .phone(let number, _): return try await startPhone(number, proof, context)
      case .totp: return try await startTotp(proof)
      }
    }
  }

  private func startPhone(
    _ number: String, _ proof: Proof, _ context: CallContext
  ) async throws -> StartMfaEnrollmentResponse {
    let made = try await write { transaction in
      let caller = try await self.enrollingCaller(proof, in: transaction)
      guard caller.scope.signIn.allowsPhoneFactors else {
        throw IdentityError(.operationNotAllowed, "SMS based MFA not enabled.")
      }
      let number = try Checks.phoneNumber(number)
      try self.checkRoom(for: number, caller.user)
      try self.takeMessage(to: number, or: .tooManyAttempts)
      var ticket = self.newTicket(
        .mfaPhoneEnrollment, for: caller.user, scope: caller.scope, lifetime: self.options.verificationCodeLifetime)
      ticket.phoneNumber = number
      return try await self.keepDigits(ticket, in: transaction)
    }
    try await deliver(made.code, to: number, sessionInfo: made.sessionInfo, context)
    return .phone(sessionInfo: made.sessionInfo)
  }

  private func startTotp(_ proof: Proof) async throws -> StartMfaEnrollmentResponse {
    let key = try crypto.randomBytes(count: 20)
    let (sessionInfo, deadline) = try await write { transaction in
      let caller = try await self.enrollingCaller(proof, in: transaction)
      guard caller.scope.signIn.allowsTotpFactors else {
        throw IdentityError(.operationNotAllowed, "TOTP based MFA not enabled.")
      }
      try self.checkRoom(for: nil, caller.user)
      var ticket = self.newTicket(
        .mfaTotpEnrollment, for: caller.user, scope: caller.scope, lifetime: self.options.secondFactorLifetime)
      ticket.totpSecret = key
      return (try await self.keep(ticket, secretLength: 64, in: transaction), ticket.expiresAt)
    }
    return .totp(
      TotpSecret(
        sharedSecretKey: Base32.encode(key), sessionInfo: sessionInfo, verificationCodeLength: TOTP.digits,
        periodSeconds: TOTP.period, finalizeEnrollmentTime: deadline))
  }

  /// The account of a token, if it may have second factors.
  private func enrollingCaller(_ proof: Proof, in reader: any StoreReader) async throws -> Caller {
    let caller = try await caller(proof, in: reader)
    guard !["anonymous", "phone", "custom", "gc.apple.com"].contains(caller.facts.provider) else {
      throw IdentityError(.unsupportedFirstFactor, "MFA is not available for the given first factor.")
    }
    guard caller.user.email != nil, caller.user.emailVerified else {
      throw IdentityError(.unverifiedEmail, "Need to verify email first before enrolling second factors.")
    }
    guard caller.scope.signIn.mfaState != .disabled else {
      throw IdentityError(.operationNotAllowed, "MFA not enabled.")
    }
    try requireRecentSignInToChangeFactors(caller)
    return caller
  }

  /// Why an account cannot have another factor: this phone, or an authenticator app where there is no number.
  private func roomRefusal(for number: String?, _ user: UserRecord) -> IdentityError? {
    let isKnown = user.factors.contains { number == nil ? $0.totpSecret != nil : $0.phoneNumber == number }
    if isKnown { return IdentityError(.secondFactorExists, "The account has this second factor already.") }
    return user.factors.count < options.secondFactorLimit ? nil : IdentityError(.secondFactorLimitExceeded)
  }

  private func checkRoom(for number: String?, _ user: UserRecord) throws {
    if let refusal = roomRefusal(for: number, user) { throw refusal }
  }

  /// Adds a second factor; the new session has been signed in with it.
  public func finalizeMfaEnrollment(
    _ request: FinalizeMfaEnrollmentRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityTokens {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      let grant = try await writeKeeping { transaction -> Result<Grant, IdentityError> in
        let caller = try await self.enrollingCaller(proof, in: transaction)
        switch try await self.provenFactor(request.proof, caller, in: transaction) {
        case .failure(let refusal): return .failure(refusal)
        case .success(var factor):
          try Checks.profile(request.displayName)
          factor.displayName = request.displayName
          return .success(try await self.enroll(factor, caller, in: transaction))
        }
      }
      return try await tokens(grant)
    }
  }

  private func provenFactor(
    _ proof: FinalizeMfaEnrollmentRequest.Proof, _ caller: Caller, in transaction: any StoreTransaction
  ) async throws -> Result<UserRecord.Factor, IdentityError> {
    let scope = caller.scope
    switch proof {
    case .phone(let sessionInfo, let code):
      let (code, session) = try presented(code, sessionInfo)
      let id = try identifier(length: 28)
      return try await useDigits(session, code: code, .mfaPhoneEnrollment, scope: scope, in: transaction).flatMap {
        ticket in
        guard ticket.isCurrent(for: caller.user) else { return .failure(IdentityError(.invalidSessionInfo)) }
        if let refusal = roomRefusal(for: ticket.phoneNumber, caller.user) { return .failure(refusal) }
        return .success(UserRecord.Factor(id: id, phoneNumber: ticket.phoneNumber, enrolledAt: now))
      }
    case .totp(let sessionInfo, let code):
      let (code, session) = try presented(code, sessionInfo)
      guard let ticket = try await ticket(session, .mfaTotpEnrollment, scope: scope, in: transaction),
        ticket.isCurrent(for: caller.user), let secret = ticket.totpSecret
      else { throw IdentityError(.invalidSessionInfo) }
      guard !isExpired(ticket) else { throw IdentityError(.sessionExpired) }
      try checkRoom(for: nil, caller.user)
      guard let step = try totp(secret).acceptedStep(for: code, at: nowSeconds, lastUsed: nil) else {
        return .failure(try await countFailure(session, ticket, in: transaction))
      }
      try await consume(session, ticket, in: transaction)
      return .success(
        UserRecord.Factor(id: try identifier(length: 28), totpSecret: secret, totpStep: step, enrolledAt: now))
    }
  }

  /// Counts a wrong code; too many end the ticket.
  private func countFailure(
    _ secret: String, _ ticket: TicketRecord, in transaction: any StoreTransaction
  ) async throws -> IdentityError {
    var ticket = ticket
    ticket.failures += 1
    if ticket.failures >= options.verificationAttempts {
      try await consume(secret, ticket, in: transaction)
    } else {
      try await transaction.put(ticket, Keys.ticket(try hash(secret)))
    }
    return IdentityError(.invalidCode)
  }

  private func presented(_ code: String, _ sessionInfo: String) throws -> (code: String, session: String) {
    (try Checks.present(code, or: .missingCode), try Checks.present(sessionInfo, or: .missingSessionInfo))
  }

  private func enroll(
    _ factor: UserRecord.Factor, _ caller: Caller, in transaction: any StoreTransaction
  ) async throws -> Grant {
    var user = caller.user
    user.factors.append(factor)
    // Sessions that were opened without the factor are over.
    user.revokeTokens(now: now)
    try await transaction.forgetOldSessions(of: user, tenant: caller.scope.tenant)
    var facts = caller.facts
    facts.secondFactor = SessionFacts.SecondFactor(identifier: factor.id, provider: factor.kind)
    return try await openSession(
      of: user, replacing: caller.user, facts: facts, scope: caller.scope, in: transaction)
  }

  /// Takes a second factor away; ends the other sessions.
  public func withdrawMfaEnrollment(
    _ request: WithdrawMfaEnrollmentRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityTokens {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      let id = try Checks.present(request.mfaEnrollmentID, or: .missingMfaEnrollmentID)
      let grant = try await write { transaction in
        let caller = try await self.caller(proof, in: transaction)
        var user = caller.user
        user.factors.removeAll { $0.id == id }
        guard user.factors.count < caller.user.factors.count else { throw IdentityError(.mfaEnrollmentNotFound) }
        try self.requireRecentSignInToChangeFactors(caller)
        user.revokeTokens(now: self.now)
        try await transaction.forgetOldSessions(of: user, tenant: caller.scope.tenant)
        var facts = caller.facts
        if facts.secondFactor?.identifier == id { facts.secondFactor = nil }
        return try await self.openSession(
          of: user, replacing: caller.user, facts: facts, scope: caller.scope, in: transaction)
      }
      return try await tokens(grant)
    }
  }

  // MARK: Sign-in

  /// Begins to sign in with a second factor: sends its code.
  public func startMfaSignIn(
    _ request: StartMfaSignInRequest, context: CallContext
  ) async throws(IdentityError) -> StartMfaSignInResponse {
    try await answer {
      let credential = try Checks.present(request.mfaPendingCredential, or: .missingMfaPendingCredential)
      let id = try Checks.present(request.mfaEnrollmentID, or: .missingMfaEnrollmentID)
      let (made, number) = try await write { transaction in
        let (_, user, scope) = try await self.pending(credential, context, in: transaction)
        guard let factor = user.factors.first(where: { $0.id == id }), let number = factor.phoneNumber else {
          throw IdentityError(.mfaEnrollmentNotFound)
        }
        try self.takeMessage(to: number, or: .tooManyAttempts)
        var ticket = self.newTicket(
          .mfaPhoneSignIn, for: user, scope: scope, lifetime: self.options.verificationCodeLifetime)
        ticket.phoneNumber = number
        ticket.factorID = id
        return (try await self.keepDigits(ticket, in: transaction), number)
      }
      try await deliver(made.code, to: number, sessionInfo: made.sessionInfo, context)
      return StartMfaSignInResponse(sessionInfo: made.sessionInfo)
    }
  }

  /// Signs in with a second factor.
  public func finalizeMfaSignIn(
    _ request: FinalizeMfaSignInRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityTokens {
    try await answer {
      let credential = try Checks.present(request.mfaPendingCredential, or: .missingCredential)
      let guess = try await takeSecondFactorGuess(credential, context)
      let grant = try await writeKeeping { transaction -> Result<Grant, IdentityError> in
        let (ticket, user, scope) = try await self.pending(credential, context, in: transaction)
        switch try await self.usedFactor(request.proof, credential, ticket, user, scope, in: transaction) {
        case .failure(let refusal): return .failure(refusal)
        case .success(let factor):
          try await self.consume(credential, ticket, in: transaction)
          return .success(try await self.signIn(user, with: factor, ticket, scope, in: transaction))
        }
      }
      forgiveGuesses(guess.name, scope: guess.scope, context: context)
      return try await tokens(grant)
    }
  }

  /// Limits guesses for an account across all of its pending sign-ins, which a known password could make anew forever.
  private func takeSecondFactorGuess(
    _ credential: String, _ context: CallContext
  ) async throws -> (name: String, scope: Scope) {
    let (user, scope) = try await read { reader in
      let (_, user, scope) = try await self.pending(credential, context, in: reader)
      return (user, scope)
    }
    let name = "second factor \(user.localID)"
    try takeGuess(name, scope: scope, context: context)
    return (name, scope)
  }

  private func pending(
    _ credential: String, _ context: CallContext, in reader: any StoreReader
  ) async throws -> (TicketRecord, UserRecord, Scope) {
    let scope = try await scope(context.tenantID, in: reader)
    guard let ticket = try await ticket(credential, .mfaPending, scope: scope, in: reader), !isExpired(ticket),
      let localID = ticket.localID
    else { throw IdentityError(.invalidMfaPendingCredential) }
    guard let user = try await reader.user(scope.tenant, localID) else { throw IdentityError(.userNotFound) }
    guard !user.disabled else { throw IdentityError(.userDisabled) }
    // The first factor was proven against an account that has changed since: a password, an address, a factor.
    guard ticket.isCurrent(for: user) else { throw IdentityError(.invalidMfaPendingCredential) }
    return (ticket, user, scope)
  }

  private func usedFactor(
    _ proof: FinalizeMfaSignInRequest.Proof, _ credential: String, _ pending: TicketRecord, _ user: UserRecord,
    _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> Result<UserRecord.Factor, IdentityError> {
    switch proof {
    case .phone(let sessionInfo, let code):
      let (code, session) = try presented(code, sessionInfo)
      return try await useDigits(session, code: code, .mfaPhoneSignIn, scope: scope, in: transaction).flatMap {
        ticket in
        guard ticket.isCurrent(for: user), let factor = user.factors.first(where: { $0.id == ticket.factorID })
        else { return .failure(IdentityError(.mfaEnrollmentNotFound)) }
        return .success(factor)
      }
    case .totp(let id, let code):
      let code = try Checks.present(code, or: .missingCode)
      guard var factor = user.factors.first(where: { $0.id == id }), let secret = factor.totpSecret else {
        throw IdentityError(.mfaEnrollmentNotFound)
      }
      guard let step = try totp(secret).acceptedStep(for: code, at: nowSeconds, lastUsed: factor.totpStep) else {
        return .failure(try await countFailure(credential, pending, in: transaction))
      }
      factor.totpStep = step
      return .success(factor)
    }
  }

  private func signIn(
    _ user: UserRecord, with factor: UserRecord.Factor, _ pending: TicketRecord, _ scope: Scope,
    in transaction: any StoreTransaction
  ) async throws -> Grant {
    var updated = user
    for index in updated.factors.indices where updated.factors[index].id == factor.id {
      updated.factors[index] = factor
    }
    return try await signIn(
      updated, replacing: user, provider: pending.facts?.provider ?? "password", scope: scope,
      claims: pending.facts?.claims,
      secondFactor: SessionFacts.SecondFactor(identifier: factor.id, provider: factor.kind), in: transaction)
  }

  private func totp(_ secret: [UInt8]) -> TOTP {
    let crypto = crypto
    return TOTP { try crypto.hmac(.sha1, key: secret, message: $0) }
  }
}
