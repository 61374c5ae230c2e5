import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

// Accounts as an administrator sees and changes them, one at a time.

extension AdminOperation {
  func createUser(_ request: CreateUserRequest) async throws -> AuthUser {
    var user = try await read(checksDisabled: false) { call in try await call.newUser(request) }
    if let password = request.password { user.setPassword(try await hashPassword(password), now: now) }
    let kept = user
    return try await write(checksDisabled: false) { call in
      guard try await call.user(kept.localID) == nil else { throw AuthServiceError(.duplicateLocalID) }
      try await call.save(kept, replacing: nil)
      return kept.view(tenantID: call.scope.tenantID)
    }
  }

  func getUsers(_ request: GetUsersRequest) async throws -> LookupResponse {
    try await read(checksDisabled: false) { call in try await call.users(request) }
  }

  func updateUser(_ request: AdminUpdateRequest) async throws -> AuthUser {
    let localID = try Checks.present(request.localID, or: .missingLocalID)
    // Once without the hash, for the checks, so that a refused request costs none.
    try await read(checksDisabled: false) { call in
      _ = try call.changed(try await call.existingUser(localID), by: request, hash: nil)
    }
    let hash = try await hashPassword(request.password)
    return try await write(checksDisabled: false) { call in
      let old = try await call.existingUser(localID)
      let user = try call.changed(old, by: request, hash: hash)
      try await call.save(user, replacing: old)
      if user.epoch != old.epoch { try await call.transaction.forgetOldSessions(of: user, tenant: call.tenant) }
      return user.view(tenantID: call.scope.tenantID)
    }
  }

  func deleteUser(localID: String) async throws {
    let localID = try Checks.present(localID, or: .missingLocalID)
    try await write(checksDisabled: false) { call in
      try await call.remove(try await call.existingUser(localID))
    }
  }

  func revokeRefreshTokens(localID: String) async throws {
    let localID = try Checks.present(localID, or: .missingLocalID)
    try await write(checksDisabled: false) { call in
      var user = try await call.existingUser(localID)
      user.revokeTokens(now: call.now)
      try await call.transaction.put(user, Keys.user(call.tenant, localID))
      try await call.transaction.forgetOldSessions(of: user, tenant: call.tenant)
    }
  }
}

extension AuthReadCall {
  /// Checks a new account in the order of the service.
  fileprivate func newUser(_ request: CreateUserRequest) async throws -> UserRecord {
    let localID = try request.localID.map { try Checks.localID($0) }
    var user = try newAccount(localID)
    if try await self.user(user.localID) != nil { throw AuthServiceError(.duplicateLocalID) }
    if let number = request.phoneNumber {
      user.phoneNumber = try Checks.phoneNumber(number)
      if try await reader.text(Keys.phone(tenant, number)) != nil { throw AuthServiceError(.phoneNumberExists) }
    }
    user.email = try await freeEmail(request.email)
    if let password = request.password { try scope.config.passwordPolicy.check(password) }
    try Checks.profile(request.displayName, request.photoURL)
    user.emailVerified = request.emailVerified && user.email != nil
    user.displayName = request.displayName
    user.photoURL = request.photoURL
    user.disabled = request.disabled
    user.factors = try factors(request.mfaFactors)
    return user
  }

  /// The address of a new account, which no other account may have.
  private func freeEmail(_ email: String?) async throws -> String? {
    guard let email = try email.map({ try Checks.email($0) }) else { return nil }
    if try await owner(ofEmail: email) != nil { throw AuthServiceError(.emailExists) }
    return email
  }

  fileprivate func users(_ request: GetUsersRequest) async throws -> LookupResponse {
    let indexes =
      request.emails.map { Keys.email(tenant, Checks.canonicalEmail($0)) }
      + request.phoneNumbers.map { Keys.phone(tenant, $0) }
      + request.federatedUserIDs.map { Keys.provider(tenant, $0.providerID, $0.rawID) }
    var found = try await reader.get(indexes).compactMap { $0.map { String(decoding: $0, as: UTF8.self) } }
    for email in request.initialEmails {
      let range = Keys.initialEmails(tenant, Checks.canonicalEmail(email))
      found += try await reader.entries(in: range).map { try Keys.localID(ofInitialEmail: $0.key) }
    }
    var seen: Set<String> = []
    let localIDs = (request.localIDs + found).filter { seen.insert($0).inserted }
    let rows = try await reader.get(localIDs.map { Keys.user(tenant, $0) })
    return LookupResponse(
      users: try rows.compactMap { row in
        try row.map { try RecordCodec.decode(UserRecord.self, from: $0).view(tenantID: scope.tenantID) }
      })
  }
}

extension AuthCall {
  /// Second factors as an administrator sets them; a number that occurs twice counts once.
  ///
  /// - Parameters:
  ///   - requested: The factors.
  ///   - present: The factors of the account until now, of which apps can be kept.
  func factors(
    _ requested: [NewMfaEnrollment], replacing present: [UserRecord.Factor] = []
  ) throws -> [UserRecord.Factor] {
    var factors: [UserRecord.Factor] = []
    for factor in requested {
      try Checks.profile(factor.displayName)
      var made = try self.factor(factor, present)
      if let number = made.phoneNumber, factors.contains(where: { $0.phoneNumber == number }) { continue }
      guard !factors.contains(where: { $0.id == made.id }) else { throw AuthServiceError(.duplicateMfaEnrollmentID) }
      made.displayName = factor.displayName
      factors.append(made)
    }
    return factors
  }

  private func factor(_ factor: NewMfaEnrollment, _ present: [UserRecord.Factor]) throws -> UserRecord.Factor {
    switch factor.factor {
    case .phone(let number):
      let number = try Checks.phoneNumber(number, or: .invalidMfaPhoneNumber)
      let id = try factor.mfaEnrollmentID ?? core.secrets.identifier(length: 28)
      guard id.utf8.count <= 128 else {
        throw AuthServiceError(.invalidMfaEnrollmentID, "mfaEnrollmentId is longer than 128 bytes.")
      }
      guard !id.isEmpty else { throw AuthServiceError(.invalidMfaEnrollmentID, "mfaEnrollmentId must be defined.") }
      return UserRecord.Factor(id: id, phoneNumber: number, enrolledAt: factor.enrolledAt ?? now)
    case .totp:
      guard let kept = present.first(where: { $0.id == factor.mfaEnrollmentID && $0.totpSecret != nil }) else {
        throw AuthServiceError(
          .invalidMfaEnrollmentID,
          "An app is kept by the id that the account has it by; only the user can add one, as its secret is needed.")
      }
      return kept
    }
  }

  private func changeEmail(of user: inout UserRecord, to email: String) throws {
    let (old, new) = (user.email, try Checks.email(email))
    guard new != old else { return }
    user.email = new
    user.emailVerified = false
    if let old { user.initialEmail = user.initialEmail ?? old }
  }

  private func link(_ provider: ProviderUserInfo, to user: inout UserRecord) throws {
    try Checks.provider(provider)
    user.link(UserRecord.Provider(provider))
  }

  /// An account after a change by an administrator.
  fileprivate func changed(
    _ old: UserRecord, by request: AdminUpdateRequest, hash: String?
  ) throws -> UserRecord {
    var user = old
    if let email = request.email { try changeEmail(of: &user, to: email) }
    if let password = request.password { try scope.config.passwordPolicy.check(password) }
    if let hash { user.setPassword(hash, now: now) }
    try changeProfile(of: &user, by: request)
    user.remove(request.deleteAttributes, providers: request.deleteProviders, passkeys: request.deletePasskeys)
    if let provider = request.linkProvider { try link(provider, to: &user) }
    if let factors = request.mfaFactors { user.factors = try self.factors(factors, replacing: old.factors) }
    if hash != nil || user.email != old.email { user.revokeTokens(now: now) }
    if let validSince = request.validSince, validSince != old.validSince {
      user.validSince = validSince
      user.epoch = old.epoch + 1
    }
    return user
  }

  private func changeProfile(of user: inout UserRecord, by request: AdminUpdateRequest) throws {
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
  }
}
