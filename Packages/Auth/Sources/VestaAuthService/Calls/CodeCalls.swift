import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop

// Codes by e-mail: they are made, sent, inspected, and used to reset a password.

// MARK: Sending

extension CodeOperation {
  func sendOobCode(_ request: SendOobCodeRequest) async throws -> SendOobCodeResponse {
    let made = try await makeOobCode(request, isPrivileged: false)
    if made.isHidden, !core.sender.isImmediate {
      core.outbox.post { try await deliver(made.message, settings: request.settings) }
    } else {
      try await deliver(made.message, settings: request.settings)
    }
    return SendOobCodeResponse(email: made.email)
  }

  /// Makes a code and hands it out instead of sending it.
  func createOobLink(_ request: SendOobCodeRequest) async throws -> OobLink {
    let made = try await makeOobCode(request, isPrivileged: true)
    guard let message = made.message else { throw AuthServiceError(.userNotFound) }
    if options.hasDevelopmentTokens, let recorder = core.sender as? RecordingCodeSender {
      // Test suites look for it in the list of codes, as in the Emulator Suite.
      recorder.record(email(message, settings: request.settings))
    }
    return OobLink(
      email: made.email, oobCode: message.code, oobLink: link(message, settings: request.settings))
  }

  private func makeOobCode(_ request: SendOobCodeRequest, isPrivileged: Bool) async throws -> MadeCode {
    guard let type = request.requestType else { throw AuthServiceError(.missingRequestType) }
    let needsToken =
      ((type == .verifyAndChangeEmail || type == .verifyEmail) && !isPrivileged) || request.idToken != nil
    let missing = type == .verifyEmail ? AuthServiceError.Code.invalidIDToken : .missingIDToken
    if type == .verifyAndChangeEmail { _ = try Checks.present(request.newEmail, or: .missingNewEmail) }
    let proof = needsToken ? try await proof(request.idToken, missing: missing) : nil
    return try await write(for: proof) { call in
      try await call.makeOobCode(type, request, try await call.caller(proof), isPrivileged: isPrivileged)
    }
  }
}

/// A stored code.
private struct MadeCode: Sendable {
  var email: String
  /// `nil` where the account is not there and that is hidden.
  var message: OobMessage?
  /// Whether the answer must hide if there was a message.
  var isHidden: Bool
}

extension AuthWriteCall {
  fileprivate func makeOobCode(
    _ type: OobRequestType, _ request: SendOobCodeRequest, _ caller: Caller?, isPrivileged: Bool
  ) async throws -> MadeCode {
    try checkContinueURL(request.settings.continueURL)
    var ticket = newTicket(.oobCode, lifetime: options.oobCodeLifetimes[type] ?? .seconds(3600))
    ticket.requestType = type.rawValue
    try await address(&ticket, type, request, caller, isPrivileged: isPrivileged)
    let email = ticket.email ?? ""
    try await guesses.takeMessage(
      to: "\(type) \(email)", or: type == .passwordReset ? .resetPasswordExceedLimit : .tooManyAttempts)
    let isForNobody = ticket.localID == nil && type != .emailSignIn
    // For an address without account there is a ticket too, so that the work is the same. It is not sent, and it
    // has no time to live: the next ones that are kept take it away.
    if isForNobody { ticket.expiresAt = 0 }
    let code = try await tickets.keep(ticket, secretLength: 54)
    if isForNobody { return MadeCode(email: email, isHidden: true) }
    let message = OobMessage(
      requestType: type, email: email, newEmail: ticket.newEmail, code: code, tenantID: scope.tenantID)
    return MadeCode(email: email, message: message, isHidden: type == .passwordReset && scope.config.hidesEmails)
  }

  /// Says whose code it is.
  private func address(
    _ ticket: inout TicketRecord, _ type: OobRequestType, _ request: SendOobCodeRequest, _ caller: Caller?,
    isPrivileged: Bool
  ) async throws {
    switch type {
    case .emailSignIn:
      guard scope.signIn.allowsEmailLinks else { throw AuthServiceError(.operationNotAllowed) }
      ticket.email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
    case .passwordReset:
      let email = try Checks.email(try Checks.present(request.email, or: .missingEmail))
      ticket.email = email
      if let user = try await user(email: email) { ticket.bind(to: user) }
      if ticket.localID == nil, isPrivileged || !scope.config.hidesEmails { throw AuthServiceError(.emailNotFound) }
    case .verifyEmail:
      guard let user = try await verifiedUser(request, caller) else { throw AuthServiceError(.userNotFound) }
      ticket.bind(to: user)
      ticket.email = try Checks.present(user.email, or: .missingEmail)
    case .verifyAndChangeEmail where caller == nil && isPrivileged:
      guard let user = try await verifiedUser(request, nil) else { throw AuthServiceError(.userNotFound) }
      try await addressChange(&ticket, request, of: user)
    case .verifyAndChangeEmail:
      guard let caller else { throw AuthServiceError(.missingIDToken) }
      try requireRecentSignIn(caller)
      // The answer reveals whether an address is taken, so each account has a limited number of requests.
      try await guesses.takeMessage(
        to: "\(OobRequestType.verifyAndChangeEmail) of \(caller.user.localID)", or: .tooManyAttempts)
      try await addressChange(&ticket, request, of: caller.user)
    default:
      throw AuthServiceError(.notImplemented, "Codes of the type \(type.rawValue) are made by the service itself.")
    }
  }

  private func addressChange(
    _ ticket: inout TicketRecord, _ request: SendOobCodeRequest, of user: UserRecord
  ) async throws {
    let newEmail = try Checks.email(try Checks.present(request.newEmail, or: .missingNewEmail))
    if try await owner(ofEmail: newEmail) != nil { throw AuthServiceError(.emailExists) }
    ticket.bind(to: user)
    ticket.email = user.email ?? newEmail
    ticket.newEmail = newEmail
  }

  private func verifiedUser(_ request: SendOobCodeRequest, _ caller: Caller?) async throws -> UserRecord? {
    if let caller { return caller.user }
    return try await user(email: try Checks.email(try Checks.present(request.email, or: .missingEmail)))
  }

  private func checkContinueURL(_ text: String?) throws {
    guard let text else { return }
    switch ContinueURL(text, appSchemes: options.continueURLSchemes) {
    case nil: throw AuthServiceError(.invalidContinueURI, ContinueURL.rule)
    case .app?: return
    case .web(let host)?:
      guard !options.isDevelopment else { return }
      guard scope.config.authorizedDomains.contains(where: { $0.lowercased() == host }) else {
        throw AuthServiceError(.unauthorizedDomain)
      }
    }
  }
}

// MARK: Using

extension CodeOperation {
  /// Says what a code is for, or resets a password with it.
  func resetPassword(_ request: ResetPasswordRequest) async throws -> ResetPasswordResponse {
    let code = try Checks.present(request.oobCode, or: .missingOobCode)
    let response = try await read { call in
      guard call.scope.signIn.allowsPasswords else { throw AuthServiceError(.passwordLoginDisabled) }
      let (ticket, type) = try await call.oobTicket(code)
      if let password = request.newPassword {
        guard type == .passwordReset else { throw AuthServiceError(.invalidOobCode) }
        try call.scope.config.passwordPolicy.check(password)
      }
      var response = ResetPasswordResponse(
        requestType: type, email: type == .emailSignIn ? nil : ticket.email, newEmail: ticket.newEmail)
      if type == .revertSecondFactorAddition, let localID = ticket.localID {
        let factors = try await call.user(localID)?.redactedFactors ?? []
        response.mfaInfo = factors.first { $0.mfaEnrollmentID == ticket.factorID }
      }
      return response
    }
    guard let password = request.newPassword else { return response }
    let hash = try await hashPassword(password) as String
    try await write { call in try await call.resetPassword(code, hash) }
    return response
  }
}

extension AuthWriteCall {
  fileprivate func resetPassword(_ code: String, _ hash: String) async throws {
    let (ticket, _) = try await oobTicket(code)
    guard let localID = ticket.localID, let old = try await user(localID) else {
      throw AuthServiceError(.invalidOobCode)
    }
    guard !old.disabled else { throw AuthServiceError(.userDisabled) }
    var user = old
    if old.emailVerified {
      // A person who linked a provider or a phone, or knew the old password, has to sign in again.
      user.removeWaysIn()
      user.revokeTokens(now: now)
    } else {
      user.ownershipWasProven(now: now)
    }
    user.setPassword(hash, now: now)
    try await tickets.consume(code, ticket)
    try await save(user, replacing: old)
    try await transaction.forgetOldSessions(of: user, tenant: tenant)
  }
}

// MARK: Reading

extension CodeOperation {
  /// The codes by e-mail that can still be used, in the order in which they were sent.
  func sentOobCodes() async throws -> [SentOobCode] {
    await core.outbox.drain()
    let recorded = core.sender.recordedEmails.filter { TenantKey($0.tenantID) == TenantKey(context.tenantID) }
    let usable = try await areUsable(recorded.map(\.code))
    return zip(recorded, usable).filter(\.1).map { message, _ in
      SentOobCode(
        email: message.email, newEmail: message.newEmail, requestType: message.requestType, oobCode: message.code,
        oobLink: message.link)
    }
  }

  /// The codes to phones that can still be used, in the order in which they were sent.
  func sentVerificationCodes() async throws -> [SentVerificationCode] {
    let recorded = core.sender.recordedTexts.filter { TenantKey($0.tenantID) == TenantKey(context.tenantID) }
    let usable = try await areUsable(recorded.map(\.sessionInfo))
    return zip(recorded, usable).filter(\.1).map { message, _ in
      SentVerificationCode(phoneNumber: message.phoneNumber, sessionInfo: message.sessionInfo, code: message.code)
    }
  }

  private func areUsable(_ secrets: [String]) async throws -> [Bool] {
    let keys = try secrets.map { Keys.ticket(try core.secrets.hash($0)) }
    let time = now
    return try await core.read { try await $0.get(keys) }.map { row in
      try row.map { try RecordCodec.decode(TicketRecord.self, from: $0).expiresAt > time } ?? false
    }
  }

  /// The ways to sign in that an e-mail address has; empty where the project hides that.
  func createAuthURI(_ request: CreateAuthURIRequest) async throws -> CreateAuthURIResponse {
    let sessionID = try request.sessionID ?? core.secrets.secret(length: 27)
    return try await read { call in
      let identifier = try Checks.present(request.identifier, or: .missingIdentifier)
      let email = try Checks.email(identifier, or: .invalidIdentifier)
      let continueURI = try Checks.present(request.continueURI, or: .missingContinueURI)
      guard ContinueURL(continueURI, appSchemes: options.continueURLSchemes) != nil else {
        throw AuthServiceError(.invalidContinueURI, ContinueURL.rule)
      }
      guard !call.scope.config.hidesEmails else { return CreateAuthURIResponse(sessionID: sessionID) }
      return try await call.methods(of: email, sessionID: sessionID)
    }
  }
}

extension AuthReadCall {
  fileprivate func methods(of email: String, sessionID: String) async throws -> CreateAuthURIResponse {
    var providers: [String] = []
    var methods: [String] = []
    if let user = try await user(email: email) {
      providers = user.providerInfo.map(\.providerID).filter { $0 != "phone" }
      methods = providers.filter { $0 != "password" }
      if user.passwordHash != nil { methods.append("password") }
      if user.emailLinkSignIn { methods.append("emailLink") }
    }
    for provider in try await linkedProviders(email) where !providers.contains(provider) {
      providers.append(provider)
      methods.append(provider)
    }
    return CreateAuthURIResponse(
      sessionID: sessionID, isRegistered: !providers.isEmpty, allProviders: providers, signInMethods: methods)
  }

  /// The ids of the providers that know an address, of all accounts.
  private func linkedProviders(_ email: String) async throws -> [String] {
    var providers: [String] = []
    let range = Keys.providerEmails(tenant, email)
    for entry in try await reader.entries(in: range, limit: core.options.tuning.methods) {
      var key = KeyDecoder(entry.key, from: range.lower.count)
      let localID = try RecordCodec.part("providerEmail") { try key.string() }
      guard let user = try await user(localID) else { continue }
      providers += user.providers.filter { $0.email == email }.map(\.providerID)
    }
    return providers
  }
}
