import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop

// Second factors are added and removed.

extension FactorOperation {
  func startMfaEnrollment(_ request: StartMfaEnrollmentRequest) async throws -> StartMfaEnrollmentResponse {
    let proof = try await proof(request.idToken)
    switch request.factor {
    case .phone(let number, _): return try await startPhone(number, proof)
    case .totp: return try await startTotp(proof)
    }
  }

  private func startPhone(_ number: String, _ proof: Proof) async throws -> StartMfaEnrollmentResponse {
    let made = try await write(for: proof) { call in
      let caller = try await call.enrollingCaller(proof)
      guard call.scope.signIn.allowsPhoneFactors else {
        throw AuthServiceError(.operationNotAllowed, "SMS based MFA not enabled.")
      }
      let number = try Checks.phoneNumber(number)
      try call.checkRoom(for: number, caller.user)
      try await call.guesses.takeMessage(to: number, or: .tooManyAttempts)
      var ticket = call.newTicket(
        .mfaPhoneEnrollment, for: caller.user, lifetime: call.options.verificationCodeLifetime)
      ticket.phoneNumber = number
      return try await call.tickets.keepDigits(ticket)
    }
    try await deliver(made.code, to: number, sessionInfo: made.sessionInfo)
    return .phone(sessionInfo: made.sessionInfo)
  }

  private func startTotp(_ proof: Proof) async throws -> StartMfaEnrollmentResponse {
    let key = try crypto.randomBytes(count: 20)
    let (sessionInfo, deadline) = try await write(for: proof) { call in
      let caller = try await call.enrollingCaller(proof)
      guard call.scope.signIn.allowsTotpFactors else {
        throw AuthServiceError(.operationNotAllowed, "TOTP based MFA not enabled.")
      }
      try call.checkRoom(for: nil, caller.user)
      var ticket = call.newTicket(.mfaTotpEnrollment, for: caller.user, lifetime: call.options.secondFactorLifetime)
      ticket.totpSecret = key
      return (try await call.tickets.keep(ticket, secretLength: 64), ticket.expiresAt)
    }
    return .totp(
      TotpSecret(
        sharedSecretKey: Base32.encode(key), sessionInfo: sessionInfo, verificationCodeLength: TOTP.digits,
        periodSeconds: TOTP.period, finalizeEnrollmentTime: deadline))
  }

  /// Adds a second factor; the new session has been signed in with it.
  func finalizeMfaEnrollment(_ request: FinalizeMfaEnrollmentRequest) async throws -> AuthTokens {
    let proof = try await proof(request.idToken)
    try Checks.profile(request.displayName)
    typealias Enrolled = (grant: Grant, mail: OobMessage?)
    let enrolled = try await writeKeeping(for: proof) { call -> Result<Enrolled, AuthServiceError> in
      let caller = try await call.enrollingCaller(proof)
      switch try await call.provenFactor(request.proof, caller) {
      case .failure(let refusal): return .failure(refusal)
      case .success(var factor):
        factor.displayName = request.displayName
        return .success((try await call.enroll(factor, caller), try await call.revertOfAddition(factor, caller)))
      }
    }
    try await deliver(enrolled.mail)
    return try await tokens(enrolled.grant)
  }

  /// Removes a second factor; ends the other sessions.
  func withdrawMfaEnrollment(_ request: WithdrawMfaEnrollmentRequest) async throws -> AuthTokens {
    let proof = try await proof(request.idToken)
    let id = try Checks.present(request.mfaEnrollmentID, or: .missingMfaEnrollmentID)
    let grant = try await write(for: proof) { call in
      try await call.withdraw(id, try await call.caller(proof))
    }
    return try await tokens(grant)
  }
}

extension AuthWriteCall {
  /// The account of a token, if it may have second factors.
  fileprivate func enrollingCaller(_ proof: Proof) async throws -> Caller {
    let caller = try await caller(proof) as Caller
    guard !["anonymous", "phone", "custom", "gc.apple.com"].contains(caller.facts.provider) else {
      throw AuthServiceError(.unsupportedFirstFactor, "MFA is not available for the given first factor.")
    }
    guard caller.user.email != nil, caller.user.emailVerified else {
      throw AuthServiceError(.unverifiedEmail, "Need to verify email first before enrolling second factors.")
    }
    guard scope.signIn.mfaState != .disabled else { throw AuthServiceError(.operationNotAllowed, "MFA not enabled.") }
    try requireRecentSignInToChangeFactors(caller)
    return caller
  }

  /// Why an account cannot have another factor: this phone, or an authenticator app where there is no number.
  private func roomRefusal(for number: String?, _ user: UserRecord) -> AuthServiceError? {
    let isKnown = user.factors.contains { number == nil ? $0.totpSecret != nil : $0.phoneNumber == number }
    if isKnown { return AuthServiceError(.secondFactorExists, "The account has this second factor already.") }
    return user.factors.count < options.secondFactorLimit ? nil : AuthServiceError(.secondFactorLimitExceeded)
  }

  fileprivate func checkRoom(for number: String?, _ user: UserRecord) throws {
    if let refusal = roomRefusal(for: number, user) { throw refusal }
  }

  fileprivate func provenFactor(
    _ proof: FinalizeMfaEnrollmentRequest.Proof, _ caller: Caller
  ) async throws -> Result<UserRecord.Factor, AuthServiceError> {
    switch proof {
    case .phone(let sessionInfo, let code):
      let (code, session) = try Checks.presented(code, sessionInfo)
      let id = try core.secrets.identifier(length: 28)
      return try await tickets.useDigits(session, code: code, .mfaPhoneEnrollment).flatMap { ticket in
        guard ticket.isCurrent(for: caller.user) else { return .failure(AuthServiceError(.invalidSessionInfo)) }
        if let refusal = roomRefusal(for: ticket.phoneNumber, caller.user) { return .failure(refusal) }
        return .success(UserRecord.Factor(id: id, phoneNumber: ticket.phoneNumber, enrolledAt: now))
      }
    case .totp(let sessionInfo, let code):
      let (code, session) = try Checks.presented(code, sessionInfo)
      return try await provenApp(session, code: code, caller)
    }
  }

  private func provenApp(
    _ session: String, code: String, _ caller: Caller
  ) async throws -> Result<UserRecord.Factor, AuthServiceError> {
    guard let ticket = try await ticket(session, .mfaTotpEnrollment), ticket.isCurrent(for: caller.user),
      let secret = ticket.totpSecret
    else { throw AuthServiceError(.invalidSessionInfo) }
    guard !isExpired(ticket) else { throw AuthServiceError(.sessionExpired) }
    try checkRoom(for: nil, caller.user)
    guard let step = try TOTP(secret, crypto).acceptedStep(for: code, at: nowSeconds, lastUsed: nil) else {
      return .failure(try await tickets.countFailure(session, ticket))
    }
    try await tickets.consume(session, ticket)
    return .success(
      UserRecord.Factor(
        id: try core.secrets.identifier(length: 28), totpSecret: secret, totpStep: step, enrolledAt: now))
  }

  fileprivate func enroll(_ factor: UserRecord.Factor, _ caller: Caller) async throws -> Grant {
    var user = caller.user
    user.factors.append(factor)
    // Sessions that were opened without the factor are over.
    user.revokeTokens(now: now)
    var facts = caller.facts
    facts.secondFactor = SessionFacts.SecondFactor(identifier: factor.id, provider: factor.kind)
    return try await sessions.openSession(of: user, replacing: caller.user, facts: facts)
  }

  /// Gives the owner of the mailbox a code to take a factor away that a thief has added.
  ///
  /// It outlives the sessions of the account, as a thief ends the owner's, and is good as long as the factor is.
  fileprivate func revertOfAddition(_ factor: UserRecord.Factor, _ caller: Caller) async throws -> OobMessage? {
    guard let email = caller.user.email else { return nil }
    let type = OobRequestType.revertSecondFactorAddition
    var ticket = newTicket(.oobCode, for: caller.user, lifetime: options.oobCodeLifetimes[type] ?? .seconds(3600))
    ticket.requestType = type.rawValue
    ticket.email = email
    ticket.factorID = factor.id
    let code = try await tickets.keep(ticket, secretLength: 54)
    return OobMessage(requestType: type, email: email, code: code, tenantID: scope.tenantID)
  }

  fileprivate func withdraw(_ id: String, _ caller: Caller) async throws -> Grant {
    var user = caller.user
    user.factors.removeAll { $0.id == id }
    guard user.factors.count < caller.user.factors.count else { throw AuthServiceError(.mfaEnrollmentNotFound) }
    try requireRecentSignInToChangeFactors(caller)
    user.revokeTokens(now: now)
    var facts = caller.facts
    if facts.secondFactor?.identifier == id { facts.secondFactor = nil }
    return try await sessions.openSession(of: user, replacing: caller.user, facts: facts)
  }
}

extension TOTP {
  /// The codes of a secret.
  init(_ secret: [UInt8], _ crypto: any CryptoProvider) {
    self.init { try crypto.hmac(.sha1, key: secret, message: $0) }
  }
}
