public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  // MARK: Reading

  /// Gives all accounts page by page, with their password hashes.
  public func batchGet(
    _ request: BatchGetRequest, context: CallContext
  ) async throws(IdentityError) -> BatchGetResponse {
    try await answer {
      try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader, checksDisabled: false)
        let limit = request.maxResults < 0 ? nil : min(max(1, request.maxResults), 1000)
        var range = Keys.users(scope.tenant)
        if let last = request.nextPageToken, !last.isEmpty { range = range.after(Keys.user(scope.tenant, last)) }
        let users = try await reader.entries(in: range, limit: limit).map {
          try RecordCodec.decode(UserRecord.self, from: $0.value).view(tenantID: scope.tenantID, includesHash: true)
        }
        let isFull = limit.map { users.count >= $0 } ?? false
        return BatchGetResponse(users: users, nextPageToken: isFull ? users.last?.localID : nil)
      }
    }
  }

  /// Counts the accounts, or gives them all.
  public func queryUsers(
    _ request: QueryUsersRequest, context: CallContext
  ) async throws(IdentityError) -> QueryUsersResponse {
    try await answer {
      try await read { reader in
        let scope = try await self.scope(context.tenantID, in: reader, checksDisabled: false)
        let range = Keys.users(scope.tenant)
        guard request.returnsUsers else {
          return QueryUsersResponse(
            count: try await reader.scan(range, order: .ascending, limit: nil) { _, _ in .next }.visited)
        }
        let order = request.isDescending ? ScanOrder.descending : .ascending
        let users = try await reader.entries(in: range, order: order).map {
          try RecordCodec.decode(UserRecord.self, from: $0.value).view(tenantID: scope.tenantID)
        }
        return QueryUsersResponse(count: users.count, users: users)
      }
    }
  }

  // MARK: Import

  /// An account of a batch, as it is to be kept, or why it cannot be.
  private enum Imported: Sendable {
    case user(UserRecord)
    case refused(String)
  }

  /// Imports accounts; each one is imported or is in the response's errors.
  public func batchCreate(
    _ request: BatchCreateRequest, context: CallContext
  ) async throws(IdentityError) -> BatchCreateResponse {
    try await answer {
      guard !request.users.isEmpty else { throw IdentityError(.missingUserAccount) }
      guard request.users.count <= 1000 else {
        throw IdentityError(.invalidArgument, "A batch has at most 1000 accounts.")
      }
      try ImportCheck.hash(request.hash, users: request.users)
      if request.checksSanity { try ImportCheck.sanity(request.users) }
      let scope = try await read { try await self.scope(context.tenantID, in: $0, checksDisabled: false) }
      let signerKeyID = try signerKeyID(request.hash)
      var imported: [Imported] = []
      for user in request.users {
        imported.append(try await self.imported(user, request.hash, signerKeyID, scope))
      }
      let entries = imported
      return try await write { transaction in
        try await self.keepSignerKey(request.hash, signerKeyID, in: transaction)
        return try await self.keep(entries, request, scope, in: transaction)
      }
    }
  }

  private func keep(
    _ entries: [Imported], _ request: BatchCreateRequest, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> BatchCreateResponse {
    if !request.allowsOverwrite {
      let rows = try await transaction.get(request.users.map { Keys.user(scope.tenant, $0.localID) })
      if let index = rows.firstIndex(where: { $0 != nil }) {
        throw IdentityError(.duplicateLocalID, request.users[index].localID)
      }
    }
    var response = BatchCreateResponse()
    for (index, entry) in entries.enumerated() {
      let failure: String?
      switch entry {
      case .refused(let why): failure = why
      case .user(let user): failure = try await keep(user, request, scope, in: transaction)
      }
      if let failure { response.errors.append(.init(index: index, message: failure)) }
    }
    return response
  }

  private func keep(
    _ user: UserRecord, _ request: BatchCreateRequest, _ scope: Scope, in transaction: any StoreTransaction
  ) async throws -> String? {
    let old = try await transaction.user(scope.tenant, user.localID)
    if old != nil, !request.allowsOverwrite { return "localId belongs to an existing account - can not overwrite." }
    var user = user
    // Tokens and codes of the account that was there before do not come back with its id.
    user.begin(epoch: try old.map { $0.epoch + 1 } ?? newEpoch(), now: now)
    user.validSince = max(user.validSince ?? 0, old?.validSince ?? 0)
    user.sessionCount = old?.sessionCount ?? 0
    do {
      try await transaction.save(user, replacing: old, tenant: scope.tenant)
      if old != nil { try await transaction.forgetOldSessions(of: user, tenant: scope.tenant) }
      return nil
    } catch IdentityError.Code.emailExists {
      return "email exists in other account in database"
    } catch IdentityError.Code.federatedUserIDAlreadyLinked {
      return "raw id exists in other account in database"
    } catch IdentityError.Code.phoneNumberExists {
      return "phone number exists in other account in database"
    } catch let error as IdentityError where error.code == .invalidArgument {
      return error.detail ?? "the account is too large"
    }
  }

  private func imported(
    _ entry: ImportedUser, _ hash: ImportHash?, _ signerKeyID: String?, _ scope: Scope
  ) async throws -> Imported {
    var user: UserRecord
    do {
      user = try ImportCheck.user(entry, scope: scope, now: now) { try self.factors($0) }
      if let bytes = entry.passwordHash, let hash {
        let kept = try hash.passwordHash(bytes, salt: entry.salt)
        try ImportCheck.cost(of: kept)
        user.passwordHash = kept.text
        user.signerKeyID = signerKeyID
        user.passwordUpdatedAt = now
      }
    } catch let refusal as ImportCheck.Refusal {
      return .refused(refusal.message)
    } catch let error as CryptoError {
      return .refused("password hash is invalid: \(error.message)")
    }
    if let password = entry.rawPassword {
      guard password.utf8.count <= Checks.longestPassword else { return .refused("password is too long") }
      user.setPassword(try await hashPassword(password), now: now)
    }
    return .user(user)
  }

  /// A name for the signer key of a batch: the same for the same key.
  private func signerKeyID(_ hash: ImportHash?) throws -> String? {
    guard case .scrypt(let key, _, _, _)? = hash else { return nil }
    return Hex.encode(try crypto.digest(.sha256, of: key))
  }

  private func keepSignerKey(
    _ hash: ImportHash?, _ id: String?, in transaction: any StoreTransaction
  ) async throws {
    guard case .scrypt(let key, _, _, _)? = hash, let id else { return }
    try await transaction.put(key, for: Keys.signerKey(id))
  }

  // MARK: Deletion

  /// Deletes accounts.
  public func batchDelete(
    _ request: BatchDeleteRequest, context: CallContext
  ) async throws(IdentityError) -> BatchDeleteResponse {
    try await answer {
      guard (1...1000).contains(request.localIDs.count) else { throw IdentityError(.localIDListExceedsLimit) }
      return try await write { transaction in
        let scope = try await self.scope(context.tenantID, in: transaction, checksDisabled: false)
        var response = BatchDeleteResponse()
        for (index, localID) in request.localIDs.enumerated() {
          guard let user = try await transaction.user(scope.tenant, localID) else { continue }
          guard user.disabled || request.force else {
            let message = "NOT_DISABLED : Disable the account before batch deletion."
            response.errors.append(.init(index: index, localID: localID, message: message))
            continue
          }
          try await transaction.remove(user, tenant: scope.tenant)
        }
        return response
      }
    }
  }
}
