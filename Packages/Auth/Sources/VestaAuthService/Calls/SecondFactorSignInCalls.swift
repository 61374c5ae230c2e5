import VestaAuthBackend
import VestaServiceInterop

// Sign-in with a second factor, after the first.

extension FactorOperation {
  /// Sends the code of a second factor.
  func startMfaSignIn(_ request: StartMfaSignInRequest) async throws -> StartMfaSignInResponse {
    let credential = try Checks.present(request.mfaPendingCredential, or: .missingMfaPendingCredential)
    let id = try Checks.present(request.mfaEnrollmentID, or: .missingMfaEnrollmentID)
    let (made, number) = try await write { call in
      let user = try await call.pending(credential).user
      guard let factor = user.factors.first(where: { $0.id == id }), let number = factor.phoneNumber else {
        throw AuthServiceError(.mfaEnrollmentNotFound)
      }
      try await call.guesses.takeMessage(to: number, or: .tooManyAttempts)
      var ticket = call.newTicket(.mfaPhoneSignIn, for: user, lifetime: call.options.verificationCodeLifetime)
      ticket.phoneNumber = number
      ticket.factorID = id
      return (try await call.tickets.keepDigits(ticket), number)
    }
    try await deliver(made.code, to: number, sessionInfo: made.sessionInfo)
    return StartMfaSignInResponse(sessionInfo: made.sessionInfo)
  }

  func finalizeMfaSignIn(_ request: FinalizeMfaSignInRequest) async throws -> AuthTokens {
    let credential = try Checks.present(request.mfaPendingCredential, or: .missingCredential)
    // Guesses are limited for an account across all of its pending sign-ins, which a known password could make again
    // for ever. Taken in a separate transaction, which no refusal undoes.
    let (localID, tenant) = try await read { call in
      let localID = try await call.pending(credential).user.localID
      try call.takeGuess("second factor \(localID)", from: context.clientAddress)
      return (localID, call.tenant)
    }
    try await takeSharedGuess(.secondFactor(localID: localID), tenant: tenant)
    let grant = try await writeAsking { call -> Result<Grant, AuthServiceError> in
      let pending = try await call.pending(credential)
      switch try await call.usedFactor(request.proof, pending) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let factor):
        try await call.tickets.consume(credential, pending.ticket)
        try await call.guesses.forgiveSharedGuesses(.secondFactor(localID: localID), from: context.clientAddress)
        return try await call.signIn(pending, with: factor)
      }
    }.get()
    forgiveGuesses("second factor \(localID)", tenant: tenant)
    return try await tokens(grant)
  }
}

/// A sign-in whose first factor was right, and whose second one has to follow.
private struct PendingSignIn: Sendable {
  var credential: String
  var ticket: TicketRecord
  var user: UserRecord
}

extension AuthCall {
  fileprivate func pending(_ credential: String) async throws -> PendingSignIn {
    guard let ticket = try await ticket(credential, .mfaPending), !isExpired(ticket), let localID = ticket.localID
    else { throw AuthServiceError(.invalidMfaPendingCredential) }
    let user = try await existingUser(localID)
    guard !user.disabled else { throw AuthServiceError(.userDisabled) }
    // The first factor was proven against an account that has changed since: a password, an address, a factor.
    guard ticket.isCurrent(for: user) else { throw AuthServiceError(.invalidMfaPendingCredential) }
    return PendingSignIn(credential: credential, ticket: ticket, user: user)
  }
}

extension AuthWriteCall {
  fileprivate func usedFactor(
    _ proof: FinalizeMfaSignInRequest.Proof, _ pending: PendingSignIn
  ) async throws -> Result<UserRecord.Factor, AuthServiceError> {
    let user = pending.user
    switch proof {
    case .phone(let sessionInfo, let code):
      let (code, session) = try Checks.presented(code, sessionInfo)
      return try await tickets.useDigits(session, code: code, .mfaPhoneSignIn).flatMap { ticket in
        guard ticket.isCurrent(for: user), let factor = user.factors.first(where: { $0.id == ticket.factorID })
        else { return .failure(AuthServiceError(.mfaEnrollmentNotFound)) }
        return .success(factor)
      }
    case .totp(let id, let code):
      let code = try Checks.present(code, or: .missingCode)
      guard let factor = user.factors.first(where: { $0.id == id }), let secret = factor.totpSecret else {
        throw AuthServiceError(.mfaEnrollmentNotFound)
      }
      return try await used(factor, TOTP(secret, crypto), code: code, pending)
    }
  }

  private func used(
    _ factor: UserRecord.Factor, _ totp: TOTP, code: String, _ pending: PendingSignIn
  ) async throws -> Result<UserRecord.Factor, AuthServiceError> {
    guard let step = try totp.acceptedStep(for: code, at: nowSeconds, lastUsed: factor.totpStep) else {
      return .failure(try await tickets.countFailure(pending.credential, pending.ticket))
    }
    var factor = factor
    factor.totpStep = step
    return .success(factor)
  }

  fileprivate func signIn(
    _ pending: PendingSignIn, with factor: UserRecord.Factor
  ) async throws -> Result<Grant, AuthServiceError> {
    var user = pending.user
    for index in user.factors.indices where user.factors[index].id == factor.id { user.factors[index] = factor }
    let provider = pending.ticket.facts?.provider ?? "password"
    let claims = try await askBlockingFunctions(
      &user, replacing: pending.user, provider: provider, secondFactor: factor.kind)
    guard !user.disabled else {
      try await save(user, replacing: pending.user)
      return .failure(AuthServiceError(.userDisabled))
    }
    return .success(
      try await sessions.signIn(
        user, replacing: pending.user, provider: provider, claims: claims ?? pending.ticket.facts?.claims,
        secondFactor: SessionFacts.SecondFactor(identifier: factor.id, provider: factor.kind)))
  }
}
