public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  // MARK: One account

  /// Makes an account; nobody is signed in.
  public func createUser(
    _ request: CreateUserRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityUser {
    try await answer {
      let (scope, user) = try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader, checksDisabled: false)
        return (scope, try await self.newUser(request, scope, in: reader))
      }
      var made = user
      if let password = request.password { made.setPassword(try await hashPassword(password), now: now) }
      let kept = made
      try await write { transaction in
        guard try await transaction.get(Keys.user(scope.tenant, kept.localID)) == nil else {
          throw IdentityError(.duplicateLocalID)
        }
        try await transaction.save(kept, replacing: nil, tenant: scope.tenant)
      }
      return kept.view(tenantID: scope.tenantID)
    }
  }

  /// Checks a request in the order of the service.
  private func newUser(
    _ request: CreateUserRequest, _ scope: Scope, in reader: any StoreReader
  ) async throws -> UserRecord {
    let localID = try request.localID.map { try Checks.localID($0) } ?? newLocalID()
    if try await reader.get(Keys.user(scope.tenant, localID)) != nil { throw IdentityError(.duplicateLocalID) }
    var user = try newAccount(localID)
    if let number = request.phoneNumber {
      user.phoneNumber = try Checks.phoneNumber(number)
      if try await reader.get(Keys.phone(scope.tenant, number)) != nil { throw IdentityError(.phoneNumberExists) }
    }
    if let email = request.email {
      let email = try Checks.email(email)
      if try await reader.get(Keys.email(scope.tenant, email)) != nil { throw IdentityError(.emailExists) }
      user.email = email
    }
    if let password = request.password { try scope.config.passwordPolicy.check(password) }
    try Checks.profile(request.displayName, request.photoURL)
    user.emailVerified = request.emailVerified && user.email != nil
    user.displayName = request.displayName
    user.photoURL = request.photoURL
    user.disabled = request.disabled
    user.factors = try factors(request.mfaFactors)
    return user
  }

  /// Second factors as an administrator sets them; a number that stands there twice counts once.
  func factors(_ requested: [NewMfaEnrollment]) throws -> [UserRecord.Factor] {
    var factors: [UserRecord.Factor] = []
    for factor in requested {
      let number = try Checks.phoneNumber(factor.phoneNumber, or: .invalidMfaPhoneNumber)
      if factors.contains(where: { $0.phoneNumber == number }) { continue }
      let id = try factor.mfaEnrollmentID ?? identifier(length: 28)
      guard id.utf8.count <= 128 else {
        throw IdentityError(.invalidMfaEnrollmentID, "mfaEnrollmentId is longer than 128 bytes.")
      }
      try Checks.profile(factor.displayName)
      guard !id.isEmpty else { throw IdentityError(.invalidMfaEnrollmentID, "mfaEnrollmentId must be defined.") }
      guard !factors.contains(where: { $0.id == id }) else { throw IdentityError(.duplicateMfaEnrollmentID) }
      factors.append(
        UserRecord.Factor(
          id: id, phoneNumber: number, displayName: factor.displayName, enrolledAt: factor.enrolledAt ?? now))
    }
    return factors
  }

  /// Looks accounts up.
  public func getUsers(
    _ request: GetUsersRequest, context: CallContext
  ) async throws(IdentityError) -> LookupResponse {
    try await answer {
      try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader, checksDisabled: false)
        let indexes =
          request.emails.map { Keys.email(scope.tenant, Checks.canonicalEmail($0)) }
          + request.phoneNumbers.map { Keys.phone(scope.tenant, $0) }
          + request.federatedUserIDs.map { Keys.provider(scope.tenant, $0.providerID, $0.rawID) }
        let found = try await reader.get(indexes).compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }
        var seen: Set<String> = []
        let localIDs = (request.localIDs + found).filter { seen.insert($0).inserted }
        let rows = try await reader.get(localIDs.map { Keys.user(scope.tenant, $0) })
        let users = try rows.compactMap { row in
          try row.map { try RecordCodec.decode(UserRecord.self, from: $0).view(tenantID: scope.tenantID) }
        }
        return LookupResponse(users: users)
      }
    }
  }

  /// Changes an account.
  public func updateUser(
    _ request: AdminUpdateRequest, context: CallContext
  ) async throws(IdentityError) -> IdentityUser {
    try await answer {
      let localID = try Checks.present(request.localID, or: .missingLocalID)
      // Once without the hash, for the checks, so that a refused request costs none.
      let scope = try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader, checksDisabled: false)
        guard let user = try await reader.user(scope.tenant, localID) else { throw IdentityError(.userNotFound) }
        _ = try self.changed(user, by: request, hash: nil, scope)
        return scope
      }
      var hash: String?
      if let password = request.password { hash = try await hashPassword(password) }
      let newHash = hash
      let user = try await write { transaction in
        guard let old = try await transaction.user(scope.tenant, localID) else { throw IdentityError(.userNotFound) }
        let user = try self.changed(old, by: request, hash: newHash, scope)
        try await transaction.save(user, replacing: old, tenant: scope.tenant)
        if user.epoch != old.epoch { try await transaction.forgetOldSessions(of: user, tenant: scope.tenant) }
        return user
      }
      return user.view(tenantID: scope.tenantID)
    }
  }

  private func changed(
    _ old: UserRecord, by request: AdminUpdateRequest, hash: String?, _ scope: Scope
  ) throws -> UserRecord {
    var user = old
    if let email = try request.email.map({ try Checks.email($0) }), email != old.email {
      user.email = email
      user.emailVerified = false
      if let first = old.email { user.initialEmail = old.initialEmail ?? first }
    }
    if let password = request.password { try scope.config.passwordPolicy.check(password) }
    if let hash { user.setPassword(hash, now: now) }
    try Checks.profile(request.displayName, request.photoURL)
    user.displayName = request.displayName ?? user.displayName
    user.photoURL = request.photoURL ?? user.photoURL
    if let number = request.phoneNumber { user.phoneNumber = try Checks.phoneNumber(number) }
    if let claims = request.customAttributes {
      try Checks.customClaims(claims)
      user.customAttributes = ClaimsText.read(claims)?.members.isEmpty == true ? nil : claims
    }
    user.emailVerified = request.emailVerified ?? user.emailVerified
    user.disabled = request.disabled ?? user.disabled
    user.createdAt = request.createdAt ?? user.createdAt
    user.lastLoginAt = request.lastLoginAt ?? user.lastLoginAt
    user.remove(request.deleteAttributes, providers: request.deleteProviders)
    if let provider = request.linkProvider {
      try Checks.provider(provider)
      user.link(UserRecord.Provider(provider))
    }
    if let factors = request.mfaFactors { user.factors = try self.factors(factors) }
    if hash != nil || user.email != old.email { user.revokeTokens(now: now) }
    if let validSince = request.validSince, validSince != old.validSince {
      user.validSince = validSince
      user.epoch = old.epoch + 1
    }
    return user
  }

  /// Deletes an account with its sessions.
  public func deleteUser(localID: String, context: CallContext) async throws(IdentityError) {
    try await answer {
      let localID = try Checks.present(localID, or: .missingLocalID)
      try await write { transaction in
        let scope = try await self.scope(context.tenantID, in: transaction, checksDisabled: false)
        guard let user = try await transaction.user(scope.tenant, localID) else { throw IdentityError(.userNotFound) }
        try await transaction.remove(user, tenant: scope.tenant)
      }
    }
  }

  /// Ends all sessions of an account.
  public func revokeRefreshTokens(localID: String, context: CallContext) async throws(IdentityError) {
    try await answer {
      let localID = try Checks.present(localID, or: .missingLocalID)
      try await write { transaction in
        let scope = try await self.scope(context.tenantID, in: transaction, checksDisabled: false)
        guard var user = try await transaction.user(scope.tenant, localID) else { throw IdentityError(.userNotFound) }
        user.revokeTokens(now: self.now)
        try await transaction.put(user, Keys.user(scope.tenant, localID))
        try await transaction.forgetOldSessions(of: user, tenant: scope.tenant)
      }
    }
  }
}
