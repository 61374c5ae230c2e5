import VestaAuthBackend
import VestaBytes
import VestaStoreInterop

/// Records by key, instead of bytes.
extension StoreReader {
  func record<Record: FieldRecord>(_ type: Record.Type, _ key: [UInt8]) async throws -> Record? {
    guard let bytes = try await get(key) else { return nil }
    return try RecordCodec.decode(type, from: bytes)
  }

  func text(_ key: [UInt8]) async throws -> String? {
    try await get(key).map { String(decoding: $0, as: UTF8.self) }
  }

  func user(_ tenant: TenantKey, _ localID: String) async throws -> UserRecord? {
    try await record(UserRecord.self, Keys.user(tenant, localID))
  }

  func user(_ tenant: TenantKey, email: String) async throws -> UserRecord? {
    try await user(tenant, at: Keys.email(tenant, email))
  }

  func user(_ tenant: TenantKey, phoneNumber: String) async throws -> UserRecord? {
    try await user(tenant, at: Keys.phone(tenant, phoneNumber))
  }

  func user(_ tenant: TenantKey, providerID: String, rawID: String) async throws -> UserRecord? {
    try await user(tenant, at: Keys.provider(tenant, providerID, rawID))
  }

  /// - Parameter id: The canonical id of the passkey.
  func user(_ tenant: TenantKey, passkey id: String) async throws -> UserRecord? {
    try await user(tenant, at: Keys.passkey(tenant, id))
  }

  private func user(_ tenant: TenantKey, at index: [UInt8]) async throws -> UserRecord? {
    guard let localID = try await text(index) else { return nil }
    return try await user(tenant, localID)
  }
}

extension StoreTransaction {
  func put(_ record: some FieldRecord, _ key: [UInt8]) async throws {
    try await put(try RecordCodec.encode(record), for: key)
  }

  /// Keeps an account and moves its index rows along: the one place that does, so that they cannot disagree.
  ///
  /// - Parameters:
  ///   - user: The account as it is to be.
  ///   - old: The account as it was; `nil` for a new one.
  ///   - tenant: The tenant.
  /// - Throws: `AuthServiceError` when an address, a number, a provider's user or a passkey belongs to another account.
  func save(_ user: UserRecord, replacing old: UserRecord?, tenant: TenantKey) async throws {
    if user.hasOtherClaims(than: old) { try Checks.tokenSize(of: user) }
    if let old, user.hasIndexRows(of: old) { return try await put(user, Keys.user(tenant, user.localID)) }
    let wanted = user.indexRows(tenant)
    let present = old?.indexRows(tenant) ?? [:]
    let added = wanted.filter { present[$0.key] == nil }
    // In the order of the service's checks, so that the error does not depend on chance.
    let claims = added.filter { $0.value.conflict != nil }.sorted { $0.value.rank < $1.value.rank }
    for (claim, owner) in zip(claims, try await get(claims.map(\.key))) where owner != nil {
      if let owner, owner != Array(user.localID.utf8), let conflict = claim.value.conflict {
        throw AuthServiceError(conflict)
      }
    }
    for key in present.keys where wanted[key] == nil { try await delete(key) }
    for (key, row) in added { try await put(row.conflict == nil ? [] : Array(user.localID.utf8), for: key) }
    try await put(user, Keys.user(tenant, user.localID))
  }

  /// Takes an account away, with its index rows and its sessions, also on a full disk.
  func remove(_ user: UserRecord, tenant: TenantKey) async throws {
    freesRoom()
    for key in user.indexRows(tenant).keys { try await delete(key) }
    try await deleteRange(Keys.sessions(tenant, user.localID))
    try await deleteRange(Keys.allGuesses(tenant, of: user.localID))
    try await delete(Keys.user(tenant, user.localID))
  }

  /// Forgets the sessions of an account that are over, now that its epoch has moved on.
  ///
  /// Sessions of the epoch before this one are kept: their refresh tokens are refused as expired.
  func forgetOldSessions(of user: UserRecord, tenant: TenantKey) async throws {
    _ = try await keepSessions(of: user, tenant: tenant, atMost: .max)
  }

  /// Forgets the sessions of an account that are over, and of the others the oldest beyond a number.
  ///
  /// - Returns: How many sessions are left.
  func keepSessions(of user: UserRecord, tenant: TenantKey, atMost most: Int) async throws -> Int {
    let sessions = try await entries(in: Keys.sessions(tenant, user.localID)).map {
      (key: $0.key, record: try RecordCodec.decode(SessionRecord.self, from: $0.value))
    }
    let over = sessions.filter { $0.record.epoch < user.epoch - 1 }
    let others = sessions.filter { $0.record.epoch >= user.epoch - 1 }
      .sorted { $0.record.facts.authTime > $1.record.facts.authTime }
    for session in over + others.dropFirst(most) { try await delete(session.key) }
    return min(others.count, most)
  }
}

/// A row of an index, and what it means when another account has it already.
struct IndexRow: Equatable {
  var conflict: AuthServiceError.Code?
  var rank: Int
}

extension UserRecord {
  /// Whether this account is found by the same index rows as another state of it: nearly always so.
  fileprivate func hasIndexRows(of other: UserRecord) -> Bool {
    localID == other.localID && email == other.email && phoneNumber == other.phoneNumber
      && providers == other.providers && initialEmail == other.initialEmail
      && passkeys.map(\.credentialID) == other.passkeys.map(\.credentialID)
  }

  /// Whether this account adds other bytes to its ID tokens than another state of it.
  fileprivate func hasOtherClaims(than other: UserRecord?) -> Bool {
    guard let other else { return true }
    return displayName != other.displayName || photoURL != other.photoURL || email != other.email
      || customAttributes != other.customAttributes || providers != other.providers
  }

  /// The index rows that this account is found by.
  func indexRows(_ tenant: TenantKey) -> [[UInt8]: IndexRow] {
    var rows: [[UInt8]: IndexRow] = [:]
    if let phoneNumber { rows[Keys.phone(tenant, phoneNumber)] = IndexRow(conflict: .phoneNumberExists, rank: 0) }
    if let email { rows[Keys.email(tenant, email)] = IndexRow(conflict: .emailExists, rank: 1) }
    for provider in providers {
      rows[Keys.provider(tenant, provider.providerID, provider.rawID)] =
        IndexRow(conflict: .federatedUserIDAlreadyLinked, rank: 2)
      if let email = provider.email {
        rows[Keys.providerEmail(tenant, email, localID)] = IndexRow(conflict: nil, rank: 3)
      }
    }
    for passkey in passkeys {
      rows[Keys.passkey(tenant, passkey.canonicalID)] = IndexRow(conflict: .credentialAlreadyInUse, rank: 4)
    }
    if let initialEmail {
      rows[Keys.initialEmail(tenant, Checks.canonicalEmail(initialEmail), localID)] = IndexRow(conflict: nil, rank: 3)
    }
    return rows
  }
}
