import VestaAuthBackend
import VestaServiceInterop

// Sign-in by phone: codes are sent, and proven.

private let temporaryProofLifetime = Duration.seconds(3600)

extension SignInOperation {
  func sendVerificationCode(_ request: SendVerificationCodeRequest) async throws -> SendVerificationCodeResponse {
    let (sessionInfo, code, number) = try await write { call in
      try call.refuseTenants()
      let number = try Checks.phoneNumber(request.phoneNumber)
      guard call.scope.signIn.allowsPhone else { throw AuthServiceError(.operationNotAllowed) }
      let owner = try await call.user(phoneNumber: number)
      guard owner?.factors.isEmpty ?? true else { throw AuthServiceError.noSecondFactorForPhones }
      try await call.guesses.takeMessage(to: number, or: .tooManyAttempts)
      var ticket = call.newTicket(.phoneCode, lifetime: call.options.verificationCodeLifetime)
      ticket.phoneNumber = number
      let kept = try await call.tickets.keepDigits(ticket)
      return (kept.sessionInfo, kept.code, number)
    }
    try await deliver(code, to: number, sessionInfo: sessionInfo)
    return SendVerificationCodeResponse(sessionInfo: sessionInfo)
  }

  func signInWithPhoneNumber(_ request: PhoneSignInRequest) async throws -> PhoneSignInResponse {
    let proof = try await optionalProof(request.idToken)
    let signIn = try await writeAsking { call -> Result<PhoneSignIn, AuthServiceError> in
      try call.refuseTenants()
      if proof?.tenantID != nil { throw AuthServiceError(.unsupportedTenantOperation) }
      let caller = try await call.caller(proof)
      if let caller { try call.requireRecentSignIn(caller) }
      switch try await call.provenNumber(request.proof, caller) {
      case .failure(let refusal): return .failure(refusal)
      case .success(let number): return try await call.signIn(number, caller)
      }
    }.get()
    return try await response(signIn)
  }

  private func response(_ signIn: PhoneSignIn) async throws -> PhoneSignInResponse {
    switch signIn {
    case .session(let grant, let isNew):
      .signedIn(
        localID: grant.user.localID, phoneNumber: grant.user.phoneNumber ?? "", isNewUser: isNew,
        tokens: try await tokens(grant))
    case .inUse(let number, let proof):
      .numberInUse(phoneNumber: number, temporaryProof: proof, expiresIn: temporaryProofLifetime.seconds)
    }
  }
}

/// A sign-in by phone, within its transaction.
private enum PhoneSignIn: Sendable {
  case session(Grant, isNew: Bool)
  case inUse(number: String, proof: String)
}

extension AuthWriteCall {
  fileprivate func refuseTenants() throws {
    guard scope.tenantID == nil else { throw AuthServiceError(.unsupportedTenantOperation) }
  }

  /// The number that a proof is of; the proof is used up.
  ///
  /// A proof that the caller cannot link, because another account has the number, stays good for the sign-in to that
  /// account: apps offer it after the refusal.
  fileprivate func provenNumber(
    _ proof: PhoneProof, _ caller: Caller?
  ) async throws -> Result<String, AuthServiceError> {
    switch proof {
    case .temporaryProof(let number, let secret):
      let number = try Checks.present(number, or: .missingPhoneNumber)
      guard let ticket = try await ticket(secret, .temporaryProof), ticket.phoneNumber == number, !isExpired(ticket)
      else { throw AuthServiceError(.invalidTemporaryProof) }
      if try await isTaken(number, from: caller) { throw AuthServiceError(.phoneNumberExists) }
      try await tickets.consume(secret, ticket)
      return .success(number)
    case .code(let sessionInfo, let code):
      let sessionInfo = try Checks.present(sessionInfo, or: .missingSessionInfo)
      let code = try Checks.present(code, or: .missingCode)
      return try await tickets.useDigits(sessionInfo, code: code, .phoneCode).map { $0.phoneNumber ?? "" }
    }
  }

  /// Whether another account than the caller's has a number.
  private func isTaken(_ number: String, from caller: Caller?) async throws -> Bool {
    guard let caller, let owner = try await user(phoneNumber: number) else { return false }
    return owner.localID != caller.user.localID
  }

  fileprivate func signIn(
    _ number: String, _ caller: Caller?
  ) async throws -> Result<PhoneSignIn, AuthServiceError> {
    if try await isTaken(number, from: caller) {
      return .success(.inUse(number: number, proof: try await temporaryProof(of: number)))
    }
    let owner = try await user(phoneNumber: number)
    let old = caller?.user ?? owner
    if old?.disabled == true { return .failure(AuthServiceError(.userDisabled)) }
    if old?.factors.isEmpty == false { return .failure(.noSecondFactorForPhones) }
    var user = try old ?? newAccount()
    user.phoneNumber = number
    if let caller {
      return .success(.session(try await sessions.link(user, to: caller, provider: "phone"), isNew: false))
    }
    if let refusal = sessions.refusalWithoutFactor(of: old) { return .failure(refusal) }
    switch try await sessions.openFirstSession(of: user, replacing: old, provider: "phone") {
    case .session(let grant): return .success(.session(grant, isNew: old == nil))
    case .refused(let error): return .failure(error)
    // Accounts with second factors are refused above.
    case .pending: return .failure(AuthServiceError(.internalError))
    }
  }

  /// A proof with which the owner of a number signs in to the account that has it.
  private func temporaryProof(of number: String) async throws -> String {
    var ticket = newTicket(.temporaryProof, lifetime: temporaryProofLifetime)
    ticket.phoneNumber = number
    return try await tickets.keep(ticket, secretLength: 119)
  }
}

extension AuthServiceError {
  fileprivate static var noSecondFactorForPhones: AuthServiceError {
    AuthServiceError(
      .unsupportedFirstFactor, "A phone number cannot be set as a first factor on an SMS based MFA user.")
  }
}
