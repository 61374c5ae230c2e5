public import VestaAuthBackend
import VestaStoreInterop

extension IdentityEngine {
  /// The account of an ID token.
  public func lookup(
    _ request: LookupRequest, context: IdentityCallContext
  ) async throws(IdentityError) -> LookupResponse {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      let caller = try await read { try await self.caller(proof, in: $0) }
      return LookupResponse(users: [caller.user.view(tenantID: caller.scope.tenantID)])
    }
  }

  /// Deletes the account of an ID token, with its sessions.
  public func delete(_ request: DeleteRequest, context: IdentityCallContext) async throws(IdentityError) {
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
    _ request: UpdateRequest, context: IdentityCallContext
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
    if changesEmail || request.password != nil || removes || request.deleteProviders.contains("password") {
      try requireRecentSignIn(caller)
    }
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
    try Checks.profile(request.displayName)
    try Checks.profile(request.photoURL)
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
      if let first = old.email { user.initialEmail = old.initialEmail ?? first }
    }
    if let hash { user.setPassword(hash, now: now) }
    user.displayName = request.displayName ?? user.displayName
    user.photoURL = request.photoURL ?? user.photoURL
    user.remove(request.deleteAttributes, providers: request.deleteProviders)
    let endsSessions = user.email != old.email || hash != nil
    if endsSessions { user.revokeTokens(now: now) }
    var change = Change(user: user)
    if endsSessions {
      try await transaction.forgetOldSessions(of: user, tenant: scope.tenant)
      change.grant = try await openSession(
        of: user, replacing: old, facts: caller.facts, scope: scope, in: transaction)
    } else {
      try await transaction.save(user, replacing: old, tenant: scope.tenant)
    }
    if let email = old.email, let newEmail = user.email, email != newEmail {
      change.recovery = try await recovery(of: email, from: newEmail, user, scope, in: transaction)
    }
    return change
  }

  /// A code with which the owner of the old mailbox can take the change back.
  private func recovery(
    of email: String, from newEmail: String, _ user: UserRecord, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> OobMessage {
    let type = OobRequestType.recoverEmail
    var ticket = newTicket(.oobCode, scope: scope, lifetime: options.oobCodeLifetimes[type] ?? 3600)
    ticket.requestType = type.rawValue
    ticket.localID = user.localID
    ticket.email = email
    ticket.newEmail = newEmail
    let code = try await keep(ticket, secretLength: 54, in: transaction)
    return OobMessage(requestType: type, email: email, newEmail: newEmail, code: code, tenantID: scope.tenantID)
  }

  // MARK: Changes with a code

  private func applyCode(_ code: String, _ context: IdentityCallContext) async throws -> UpdateResponse {
    let change = try await writeKeeping { transaction -> Result<(Change, String?), IdentityError> in
      let scope = try await self.scope(context.tenantID, in: transaction)
      let (ticket, type) = try await self.oobTicket(code, scope: scope, in: transaction)
      guard [.verifyEmail, .verifyAndChangeEmail, .recoverEmail].contains(type) else {
        throw IdentityError(.invalidOobCode)
      }
      try await self.consume(code, ticket, in: transaction)
      do {
        return .success(try await self.apply(ticket, type, scope, in: transaction))
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
    _ ticket: TicketRecord, _ type: OobRequestType, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> (Change, String?) {
    guard let localID = ticket.localID, let old = try await transaction.user(scope.tenant, localID) else {
      throw IdentityError(.userNotFound)
    }
    guard !old.disabled else { throw IdentityError(.userDisabled) }
    var user = old
    switch type {
    case .verifyEmail:
      // A code for an address that the account no longer has proves nothing about the present one.
      guard old.email == ticket.email else { throw IdentityError(.invalidOobCode) }
    case .verifyAndChangeEmail:
      guard let newEmail = ticket.newEmail, old.email == ticket.email || old.email == nil else {
        throw IdentityError(.invalidOobCode)
      }
      user.email = newEmail
      if let first = old.email { user.initialEmail = old.initialEmail ?? first }
      user.revokeTokens(now: now)
    default:
      guard old.email == ticket.newEmail else { throw IdentityError(.invalidOobCode) }
      user.email = ticket.email
      user.initialEmail = nil
      user.revokeTokens(now: now)
    }
    user.emailVerified = true
    try await transaction.save(user, replacing: old, tenant: scope.tenant)
    try await transaction.forgetOldSessions(of: user, tenant: scope.tenant)
    var change = Change(user: user)
    if type == .verifyAndChangeEmail, let email = old.email, let newEmail = user.email {
      change.recovery = try await recovery(of: email, from: newEmail, user, scope, in: transaction)
    }
    return (change, type == .verifyEmail ? nil : user.email)
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
