import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

// Accounts in batches: exported, counted, imported, deleted.

extension AdminOperation {
  // MARK: Reading

  /// All accounts page by page, with their password hashes.
  func batchGet(_ request: BatchGetRequest) async throws -> BatchGetResponse {
    try await read(checksDisabled: false) { call in
      let limit = request.maxResults < 0 ? nil : min(max(1, request.maxResults), options.tuning.page)
      var range = Keys.users(call.tenant)
      let pages = AccountPages.accounts(of: call.tenant)
      if let last = try pages.id(request.nextPageToken) { range = range.after(Keys.user(call.tenant, last)) }
      let export = HashExport(form: request.hashForm, scheme: options.passwordScheme)
      let users = try await call.reader.entries(in: range, limit: limit).map {
        try RecordCodec.decode(UserRecord.self, from: $0.value)
          .view(tenantID: call.scope.tenantID, export: export)
      }
      let isFull = limit.map { users.count >= $0 } ?? false
      return BatchGetResponse(users: users, nextPageToken: isFull ? pages.token(after: users.last?.localID) : nil)
    }
  }

  /// The number of accounts, or all of them.
  func queryUsers(_ request: QueryUsersRequest) async throws -> QueryUsersResponse {
    try await read(checksDisabled: false) { call in
      let range = Keys.users(call.tenant)
      guard request.returnsUsers else {
        return QueryUsersResponse(
          count: try await call.reader.scan(range, order: .ascending, limit: nil) { _, _ in .next }.visited)
      }
      let order = request.isDescending ? ScanOrder.descending : .ascending
      let users = try await call.reader.entries(in: range, order: order).map {
        try RecordCodec.decode(UserRecord.self, from: $0.value).view(tenantID: call.scope.tenantID)
      }
      return QueryUsersResponse(count: users.count, users: users)
    }
  }

  // MARK: Import

  /// Imports accounts; each one is imported or is in the response's errors.
  func batchCreate(_ request: BatchCreateRequest) async throws -> BatchCreateResponse {
    guard !request.users.isEmpty else { throw AuthServiceError(.missingUserAccount) }
    guard request.users.count <= options.tuning.batch else {
      throw AuthServiceError(.invalidArgument, "A batch has at most \(options.tuning.batch) accounts.")
    }
    try ImportCheck.hash(request.hash, users: request.users)
    if request.checksSanity { try ImportCheck.sanity(request.users) }
    if !request.allowsOverwrite { try ImportCheck.identifiers(request.users) }
    let signerKeyID = try signerKeyID(request.hash)
    let entries: [ImportEntry] = try await read(checksDisabled: false) { call in
      request.users.map { call.imported($0, request.hash, signerKeyID) }
    }
    let checked = try await hashed(entries, request.users)
    return try await write(checksDisabled: false) { call in
      try await call.keepSignerKey(request.hash, signerKeyID)
      return try await call.keep(checked, request)
    }
  }

  /// The accounts with the hashes of their passwords, each of which takes a core for a while: all that there are work.
  private func hashed(_ entries: [ImportEntry], _ users: [ImportedUser]) async throws -> [ImportEntry] {
    var (entries, next) = (entries, 0)
    try await withThrowingTaskGroup(of: (Int, ImportEntry).self) { group in
      func addNext() {
        while next < users.count {
          defer { next += 1 }
          guard let password = users[next].rawPassword else { continue }
          group.addTask { [index = next, entry = entries[next]] in
            (index, try await entry.withPassword(password, self))
          }
          return
        }
      }
      for _ in 0..<Platform.processors { addNext() }
      while let (index, entry) = try await group.next() {
        entries[index] = entry
        addNext()
      }
    }
    return entries
  }

  /// A name for the signer key of a batch: the same for the same key.
  private func signerKeyID(_ hash: ImportHash?) throws -> String? {
    guard let key = hash?.signerKey else { return nil }
    return Hex.encode(try crypto.digest(.sha256, of: key))
  }

  // MARK: Deletion

  func batchDelete(_ request: BatchDeleteRequest) async throws -> BatchDeleteResponse {
    guard (1...options.tuning.batch).contains(request.localIDs.count) else {
      throw AuthServiceError(.localIDListExceedsLimit)
    }
    return try await write(checksDisabled: false) { call in
      var response = BatchDeleteResponse()
      for (index, localID) in request.localIDs.enumerated() {
        guard let user = try await call.user(localID) else { continue }
        guard user.disabled || request.force else {
          let message = "NOT_DISABLED : Disable the account before batch deletion."
          response.errors.append(.init(index: index, localID: localID, message: message))
          continue
        }
        try await call.remove(user)
      }
      return response
    }
  }

  /// Deletes all accounts, a page in each transaction.
  ///
  /// The pages are in the order of the user ids and the next one is after the last id that was seen, so the call
  /// ends however many accounts are created concurrently.
  func deleteAllAccounts() async throws {
    var last: String?
    repeat { last = try await deletePage(after: last) } while last != nil
  }

  /// Deletes a page of accounts, and returns the last user id of a full page.
  private func deletePage(after last: String?) async throws -> String? {
    let limit = options.tuning.batch
    return try await write(checksDisabled: false) { call in
      var range = Keys.users(call.tenant)
      if let last { range = range.after(Keys.user(call.tenant, last)) }
      let users = try await call.reader.entries(in: range, limit: limit).map {
        try RecordCodec.decode(UserRecord.self, from: $0.value)
      }
      for user in users { try await call.remove(user) }
      return users.count < limit ? nil : users.last?.localID
    }
  }
}

/// An account of a batch, as it is to be kept, or why it cannot be.
private enum ImportEntry: Sendable {
  case user(UserRecord)
  case refused(String)

  /// The account with the hash of a plain-text password.
  func withPassword(_ password: String, _ operation: AdminOperation) async throws -> ImportEntry {
    guard case .user(var user) = self else { return self }
    guard password.utf8.count <= Checks.longestPassword else { return .refused("password is too long") }
    let updatedAt = user.passwordUpdatedAt
    user.setPassword(try await operation.hashPassword(password), now: operation.now)
    user.passwordUpdatedAt = updatedAt ?? user.passwordUpdatedAt
    return .user(user)
  }
}

extension AuthReadCall {
  fileprivate func imported(_ entry: ImportedUser, _ hash: ImportHash?, _ signerKeyID: String?) -> ImportEntry {
    do {
      var user = try ImportCheck.user(entry, scope: scope, now: now) { try self.factors($0) }
      if let bytes = entry.passwordHash, let hash {
        let kept = try hash.passwordHash(bytes, salt: entry.salt)
        try ImportCheck.cost(of: kept)
        user.passwordHash = kept.text
        user.signerKeyID = signerKeyID
        user.passwordUpdatedAt = entry.passwordUpdatedAt ?? now
      }
      return .user(user)
    } catch let refusal as ImportCheck.Refusal {
      return .refused(refusal.message)
    } catch let error as CryptoError {
      return .refused("password hash is invalid: \(error.message)")
    } catch {
      return .refused("\(error)")
    }
  }
}

extension AuthWriteCall {
  fileprivate func keepSignerKey(_ hash: ImportHash?, _ id: String?) async throws {
    guard let key = hash?.signerKey, let id else { return }
    try await transaction.put(key, for: Keys.signerKey(id))
  }

  fileprivate func keep(_ entries: [ImportEntry], _ request: BatchCreateRequest) async throws -> BatchCreateResponse {
    var response = BatchCreateResponse()
    for (index, entry) in entries.enumerated() {
      let failure: String?
      switch entry {
      case .refused(let why): failure = why
      case .user(let user): failure = try await keep(user, request)
      }
      if let failure { response.errors.append(.init(index: index, message: failure)) }
    }
    return response
  }

  private func keep(_ user: UserRecord, _ request: BatchCreateRequest) async throws -> String? {
    let old = try await self.user(user.localID)
    if old != nil, !request.allowsOverwrite { return "localId belongs to an existing account - can not overwrite." }
    var user = user
    // Tokens and codes of the account that existed before are not valid again with its id.
    user.begin(epoch: try old.map { $0.epoch + 1 } ?? core.secrets.newEpoch(), now: now)
    user.validSince = max(user.validSince ?? 0, old?.validSince ?? 0)
    user.sessionCount = old?.sessionCount ?? 0
    do {
      try await save(user, replacing: old)
      if old != nil { try await transaction.forgetOldSessions(of: user, tenant: tenant) }
      return nil
    } catch AuthServiceError.Code.emailExists {
      return "email exists in other account in database"
    } catch AuthServiceError.Code.federatedUserIDAlreadyLinked {
      return "raw id exists in other account in database"
    } catch AuthServiceError.Code.phoneNumberExists {
      return "phone number exists in other account in database"
    } catch let error as AuthServiceError where error.code == .invalidArgument {
      return error.detail ?? "the account is too large"
    }
  }
}
