import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop

// The account of an ID token: look it up, change it, delete it, and apply the codes that were sent for it.

extension AccountOperation {
  func lookup(_ request: LookupRequest) async throws -> LookupResponse {
    let proof = try await proof(request.idToken)
    return try await read(for: proof) { call in
      LookupResponse(users: [try await call.caller(proof).user.view(tenantID: call.scope.tenantID)])
    }
  }

  func delete(_ request: DeleteRequest) async throws {
    let proof = try await proof(request.idToken)
    try await write(for: proof) { call in
      let caller = try await call.caller(proof) as Caller
      try call.requireRecentSignIn(caller)
      try await call.remove(caller.user)
    }
  }

  func update(_ request: UpdateRequest) async throws -> UpdateResponse {
    if let code = request.oobCode, !code.isEmpty { return try await apply(code) }
    guard let token = request.idToken, !token.isEmpty else {
      throw AuthServiceError(.invalidRequestType, "Unsupported request parameters.")
    }
    let proof = try await proof(token)
    // Once without the hash, for the checks, so that a refused request costs none.
    try await read(for: proof) { call in try await call.check(request, try await call.caller(proof)) }
    let hash = try await hashPassword(request.password)
    let change = try await write(for: proof) { call in
      try await call.change(request, hash, try await call.caller(proof))
    }
    try await deliver(change.recovery)
    var response = UpdateResponse(change.user)
    if let grant = change.grant { response.tokens = try await tokens(grant) }
    return response
  }

  private func apply(_ code: String) async throws -> UpdateResponse {
    let change = try await writeKeeping { call in try await call.apply(code) }
    try await deliver(change.recovery)
    var response = UpdateResponse(change.user)
    response.newEmail = change.newEmail
    return response
  }
}

/// A change of an account, and what follows from it after the commit.
struct AccountChange: Sendable {
  var user: UserRecord
  var grant: Grant?
  /// Sent to the old mailbox after a change of the address.
  var recovery: OobMessage?
  /// The address that a code has set.
  var newEmail: String?
}

// MARK: Changes with an ID token

extension AuthCall {
  /// Refuses everything that can be refused before the password is hashed.
  func check(_ request: UpdateRequest, _ caller: Caller) async throws {
    let newEmail = try request.email.map { try Checks.email($0) }
    let changesEmail = newEmail != nil && newEmail != caller.user.email
    let removes = !request.deleteAttributes.isDisjoint(with: [.email, .password])
    let unlinks = !request.deleteProviders.isEmpty || !request.deletePasskeys.isEmpty
    if changesEmail || request.password != nil || removes || unlinks { try requireRecentSignIn(caller) }
    if changesEmail, let newEmail {
      if caller.user.email != nil, scope.config.hidesEmails { throw AuthServiceError.verifyFirst }
      if try await owner(ofEmail: newEmail) != nil { throw AuthServiceError(.emailExists) }
    }
    if let password = request.password {
      guard scope.signIn.allowsPasswords else { throw AuthServiceError(.operationNotAllowed) }
      try scope.config.passwordPolicy.check(password)
    }
    try Checks.profile(request.displayName, request.photoURL)
  }
}

extension AuthWriteCall {
  fileprivate func change(_ request: UpdateRequest, _ hash: String?, _ caller: Caller) async throws -> AccountChange {
    try await check(request, caller)
    let old = caller.user
    var user = old
    if let email = try request.email.map({ try Checks.email($0) }), email != old.email {
      user.email = email
      user.emailVerified = false
    }
    if let hash { user.setPassword(hash, now: now) }
    user.displayName = request.displayName ?? user.displayName
    user.photoURL = request.photoURL ?? user.photoURL
    user.remove(request.deleteAttributes, providers: request.deleteProviders, passkeys: request.deletePasskeys)
    if user.email != old.email || hash != nil { user.revokeTokens(now: now) }
    let recovery = try await recovery(of: &user, from: old)
    var change = AccountChange(user: user, recovery: recovery)
    if user.epoch != old.epoch {
      change.grant = try await sessions.openSession(of: user, replacing: old, facts: caller.facts)
    } else {
      try await save(user, replacing: old)
    }
    return change
  }

  /// How many changes of an address can be taken back at the same time.
  private static var recoveryLimit: Int { 10 }

  /// Gives the owner of the old address a code to take a change of the address back.
  ///
  /// Every call with which a user changes or removes an address calls this. The sessions of the account end
  /// with the change, and with them its open codes.
  ///
  /// - Parameters:
  ///   - user: The account with its new address, or without one.
  ///   - old: The account as it was.
  ///   - endsSessions: Whether the sessions of the account end.
  /// - Returns: The message to the old mailbox, to be sent after the commit; `nil` when the address did not change.
  func recovery(
    of user: inout UserRecord, from old: UserRecord, endsSessions: Bool = true
  ) async throws -> OobMessage? {
    guard user.email != old.email else { return nil }
    if endsSessions, user.epoch == old.epoch { user.revokeTokens(now: now) }
    guard let email = old.email else { return nil }
    user.initialEmail = user.initialEmail ?? email
    user.recoveries.removeAll { $0.expiresAt <= now }
    // The first ones are the owner's; further changes of the address add no more.
    guard user.recoveries.count < Self.recoveryLimit else { return nil }
    let type = OobRequestType.recoverEmail
    var ticket = newTicket(.oobCode, for: user, lifetime: options.oobCodeLifetimes[type] ?? .seconds(3600))
    ticket.requestType = type.rawValue
    ticket.email = email
    ticket.newEmail = user.email
    ticket.wasVerified = old.emailVerified
    let code = try await tickets.keep(ticket, secretLength: 54)
    user.recoveries.append(UserRecord.Recovery(hash: try core.secrets.hash(code), expiresAt: ticket.expiresAt))
    return OobMessage(requestType: type, email: email, newEmail: user.email, code: code, tenantID: scope.tenantID)
  }

  // MARK: Changes with a code

  /// Does what a code was sent for; the code is used up also when that is refused.
  ///
  /// One exception: a recovery that is refused because another account has the address can be tried again. Otherwise a
  /// thief could use the owner's code up by taking the address.
  fileprivate func apply(_ code: String) async throws -> Result<AccountChange, AuthServiceError> {
    let (ticket, type) = try await oobTicket(code)
    guard [.verifyEmail, .verifyAndChangeEmail, .recoverEmail, .revertSecondFactorAddition].contains(type) else {
      throw AuthServiceError(.invalidOobCode)
    }
    try await tickets.consume(code, ticket)
    do {
      return .success(try await apply(ticket, type, hash: try core.secrets.hash(code)))
    } catch let refusal as AuthServiceError {
      if type == .recoverEmail, refusal.code == .emailExists { throw refusal }
      // The checks precede any change, so only the consumption is committed.
      return .failure(refusal)
    }
  }

  private func changeEmail(to email: String?, _ change: inout AccountChange, from old: UserRecord) async throws {
    guard let email else { throw AuthServiceError(.invalidOobCode) }
    change.user.email = email
    change.user.emailVerified = true
    // Test suites reload the user after the code, as a local server of Firebase's lets them.
    change.recovery = try await recovery(of: &change.user, from: old, endsSessions: !options.isDevelopment)
  }

  private func apply(_ ticket: TicketRecord, _ type: OobRequestType, hash: [UInt8]) async throws -> AccountChange {
    guard let localID = ticket.localID else { throw AuthServiceError(.userNotFound) }
    let old = try await existingUser(localID)
    guard !old.disabled else { throw AuthServiceError(.userDisabled) }
    guard ticket.isUsable(type, by: old, hash: hash) else { throw AuthServiceError(.invalidOobCode) }
    var change = AccountChange(user: old)
    switch type {
    case .verifyAndChangeEmail: try await changeEmail(to: ticket.newEmail, &change, from: old)
    case .recoverEmail: change.user.recover(ticket, hash, keepsWaysIn: options.isDevelopment, now: now)
    case .revertSecondFactorAddition:
      change.user.factors.removeAll { $0.id == ticket.factorID }
      change.user.revokeTokens(now: now)
    default: change.user.emailVerified = true
    }
    try await save(change.user, replacing: old)
    try await transaction.forgetOldSessions(of: change.user, tenant: tenant)
    if type == .verifyAndChangeEmail || type == .recoverEmail { change.newEmail = change.user.email }
    return change
  }
}

extension UpdateResponse {
  fileprivate init(_ user: UserRecord) {
    self.init(
      localID: user.localID, email: user.email, emailVerified: user.emailVerified, displayName: user.displayName,
      photoURL: user.photoURL, hasPassword: user.passwordHash != nil, providerUserInfo: user.providerInfo.map(\.info))
  }
}
