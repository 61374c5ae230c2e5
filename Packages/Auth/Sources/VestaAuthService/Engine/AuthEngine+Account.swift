public import VestaServiceInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  /// The account of an ID token.
  public func lookup(
    _ request: LookupRequest, context: CallContext
  ) async throws(IdentityError) -> LookupResponse {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      let caller = try await read { try await self.caller(proof, in: $0) }
      return LookupResponse(users: [caller.user.view(tenantID: caller.scope.tenantID)])
    }
  }

  /// Deletes the account of an ID token, with its sessions.
  public func delete(_ request: DeleteRequest, context: CallContext) async throws(IdentityError) {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      try await write { transaction in
        let caller = try await self.caller(proof, in: transaction)
        try self.requireRecentSignIn(caller)
        try await transaction.remove(caller.user, tenant: caller.scope.tenant)
      }
    }
  }

  /// Changes the account of an ID token, or does what an out-of-band code was sent for.
  public func update(
    _ request: UpdateRequest, context: CallContext
  ) async throws(IdentityError) -> UpdateResponse {
    try await answer {
      if let code = request.oobCode, !code.isEmpty { return try await applyCode(code, context) }
      guard let token = request.idToken, !token.isEmpty else {
        throw IdentityError(.invalidRequestType, "Unsupported request parameters.")
      }
      let proof = try await proof(token, context: context)
      try await read { try await self.check(request, try await self.caller(proof, in: $0), in: $0) }
      let hash = try await hashed(request.password)
      let change = try await write { try await self.change(request, hash, proof, in: $0) }
      if let message = change.recovery { try await deliver(message, settings: OobLinkSettings(), context) }
      var response = Self.response(change.user)
      if let grant = change.grant { response.tokens = try await tokens(grant) }
      return response
    }
  }

  private struct Change: Sendable {
    var user: UserRecord
    var grant: Grant?
    /// Goes to the old mailbox after a change of the address.
    var recovery: OobMessage?
  }

  // MARK: Changes with an ID token

  private func hashed(_ password: String?) async throws -> String? {
    guard let password else { return nil }
    return try await hashPassword(password)
  }

  /// Everything that can be refused before the password is hashed.
  private func check(_ request: UpdateRequest, _ caller: Caller, in reader: any StoreReader) async throws {
    let newEmail = try request.email.map { try Checks.email($0) }
    let changesEmail = newEmail != nil && newEmail != caller.user.email
    let removes = !request.deleteAttributes.isDisjoint(with: [.email, .password])
    if changesEmail || request.password != nil || removes { try requireRecentSignIn(caller) }
    if !request.deleteProviders.isEmpty { try requireRecentSignInToLink(caller) }
    if changesEmail, let newEmail {
      if caller.user.email != nil, caller.scope.config.hidesEmails { throw Self.verifyFirst }
      if try await reader.text(Keys.email(caller.scope.tenant, newEmail)) != nil {
        throw IdentityError(.emailExists)
      }
    }
    if let password = request.password {
      guard caller.scope.signIn.allowsPasswords else { throw IdentityError(.operationNotAllowed) }
      try caller.scope.config.passwordPolicy.check(password)
    }
    try Checks.profile(request.displayName, request.photoURL)
  }

  private func change(
    _ request: UpdateRequest, _ hash: String?, _ proof: Proof, in transaction: any StoreTransaction
  ) async throws -> Change {
    let caller = try await caller(proof, in: transaction)
    try await check(request, caller, in: transaction)
    let (old, scope) = (caller.user, caller.scope)
    var user = old
    if let email = try request.email.map({ try Checks.email($0) }), email != old.email {
      user.email = email
      user.emailVerified = false
    }
    if let hash { user.setPassword(hash, now: now) }
    user.displayName = request.displayName ?? user.displayName
    user.photoURL = request.photoURL ?? user.photoURL
    user.remove(request.deleteAttributes, providers: request.deleteProviders)
    if user.email != old.email || hash != nil { user.revokeTokens(now: now) }
    let recovery = try await recovery(of: &user, from: old, scope, in: transaction)
    var change = Change(user: user, recovery: recovery)
    if user.epoch != old.epoch {
      try await transaction.forgetOldSessions(of: user, tenant: scope.tenant)
      change.grant = try await openSession(
        of: user, replacing: old, facts: caller.facts, scope: scope, in: transaction)
    } else {
      try await transaction.save(user, replacing: old, tenant: scope.tenant)
    }
    return change
  }

  /// How many changes of an address can be taken back at the same time.
  private static let recoveryLimit = 10

  /// Gives the owner of the old address a code to take a change of the address back.
  ///
  /// Every call with which a user changes or removes an address comes through here. The sessions of the account end
  /// with the change, and with them its open codes.
  ///
  /// - Parameters:
  ///   - user: The account with its new address, or without one.
  ///   - old: The account as it was.
  ///   - scope: The scope of the account.
  ///   - transaction: Where to write.
  /// - Returns: The message to the old mailbox, to be sent after the commit; `nil` when the address did not change.
  func recovery(
    of user: inout UserRecord, from old: UserRecord, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> OobMessage? {
    guard user.email != old.email else { return nil }
    if user.epoch == old.epoch { user.revokeTokens(now: now) }
    guard let email = old.email else { return nil }
    user.initialEmail = user.initialEmail ?? email
    user.recoveries.removeAll { $0.expiresAt <= now }
    // The first ones are those of the owner; whoever changes the address again and again adds no more.
    guard user.recoveries.count < Self.recoveryLimit else { return nil }
    let type = OobRequestType.recoverEmail
    var ticket = newTicket(.oobCode, for: user, scope: scope, lifetime: options.oobCodeLifetimes[type] ?? 3600)
    ticket.requestType = type.rawValue
    ticket.email = email
    ticket.newEmail = user.email
    ticket.wasVerified = old.emailVerified
    let code = try await keep(ticket, secretLength: 54, in: transaction)
    user.recoveries.append(UserRecord.Recovery(hash: try hash(code), expiresAt: ticket.expiresAt))
    return OobMessage(requestType: type, email: email, newEmail: user.email, code: code, tenantID: scope.tenantID)
  }

  // MARK: Changes with a code

  private func applyCode(_ code: String, _ context: CallContext) async throws -> UpdateResponse {
    let change = try await writeKeeping { transaction -> Result<(Change, String?), IdentityError> in
      let scope = try await self.scope(context.tenantID, in: transaction)
      let (ticket, type) = try await self.oobTicket(code, scope: scope, in: transaction)
      guard [.verifyEmail, .verifyAndChangeEmail, .recoverEmail].contains(type) else {
        throw IdentityError(.invalidOobCode)
      }
      try await self.consume(code, ticket, in: transaction)
      do {
        return .success(try await self.apply(ticket, type, try self.hash(code), scope, in: transaction))
      } catch let refusal as IdentityError {
        // The checks come before any change, so only the consumption is committed.
        return .failure(refusal)
      }
    }
    if let message = change.0.recovery { try await deliver(message, settings: OobLinkSettings(), context) }
    var response = Self.response(change.0.user)
    response.newEmail = change.1
    return response
  }

  private func apply(
    _ ticket: TicketRecord, _ type: OobRequestType, _ hash: [UInt8], _ scope: Scope,
    in transaction: any StoreTransaction
  ) async throws -> (Change, String?) {
    guard let localID = ticket.localID, let old = try await transaction.user(scope.tenant, localID) else {
      throw IdentityError(.userNotFound)
    }
    guard !old.disabled else { throw IdentityError(.userDisabled) }
    guard ticket.isUsable(type, by: old, hash: hash) else { throw IdentityError(.invalidOobCode) }
    var change = Change(user: old)
    switch type {
    case .verifyAndChangeEmail:
      guard let newEmail = ticket.newEmail else { throw IdentityError(.invalidOobCode) }
      change.user.email = newEmail
      change.user.emailVerified = true
      change.recovery = try await recovery(of: &change.user, from: old, scope, in: transaction)
    case .recoverEmail: change.user.recover(ticket, hash, now: now)
    default: change.user.emailVerified = true
    }
    try await transaction.save(change.user, replacing: old, tenant: scope.tenant)
    try await transaction.forgetOldSessions(of: change.user, tenant: scope.tenant)
    return (change, type == .verifyEmail ? nil : change.user.email)
  }

  private static func response(_ user: UserRecord) -> UpdateResponse {
    UpdateResponse(
      localID: user.localID, email: user.email, emailVerified: user.emailVerified, displayName: user.displayName,
      photoURL: user.photoURL, hasPassword: user.passwordHash != nil, providerUserInfo: user.providerInfo.map(\.info))
  }
}

extension UserRecord {
  /// Takes attributes and ways to sign in away.
  mutating func remove(_ attributes: Set<UserAttribute>, providers: [String]) {
    for attribute in attributes {
      switch attribute {
      case .email: removeEmail()
      case .displayName: displayName = nil
      case .photoURL: photoURL = nil
      case .password: removePassword()
      }
    }
    for provider in providers { unlink(provider) }
  }
}
