public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop

// The calls of owners on accounts.
extension AuthRemoteAdministration {
  /// Makes an account without signing in, and reads it.
  public func createUser(_ request: CreateUserRequest, context: CallContext) async throws(AuthServiceError) -> AuthUser
  {
    let made = try await caller.sendAsOwner(
      .signUp, context, isRepeatable: false, { try CreateUserRequestWire.json(of: request) },
      { try CreatedUserWire.message(json: $0, ignoresUnknownNames: true) })
    return try await user(made.localID, context)
  }

  /// Looks accounts up.
  public func getUsers(_ request: GetUsersRequest, context: CallContext) async throws(AuthServiceError)
    -> LookupResponse
  {
    try await caller.sendAsOwner(
      .lookup, context, { try GetUsersRequestWire.json(of: request) },
      { try LookupResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Changes an account, and reads it.
  public func updateUser(_ request: AdminUpdateRequest, context: CallContext) async throws(AuthServiceError)
    -> AuthUser
  {
    try await change(request, context)
    return try await user(request.localID, context)
  }

  /// Deletes an account with its sessions.
  public func deleteUser(localID: String, context: CallContext) async throws(AuthServiceError) {
    try await caller.sendAsOwner(.delete, context, isRepeatable: false, { try LocalIDWire.json(of: localID) }, { _ in })
  }

  /// Ends all sessions of an account: tokens from before this second, by the clock of this machine, are refused.
  ///
  /// The protocol has no other way, and Firebase's own administration does the same.
  public func revokeRefreshTokens(localID: String, context: CallContext) async throws(AuthServiceError) {
    try await change(AdminUpdateRequest(localID: localID, validSince: caller.clock.now() / 1_000_000), context)
  }

  /// Gives all accounts page by page, with their password hashes.
  public func batchGet(_ request: BatchGetRequest, context: CallContext) async throws(AuthServiceError)
    -> BatchGetResponse
  {
    try await caller.sendAsOwner(
      .batchGet, context, query: BatchGetWire.query(of: request),
      { [] }, { try BatchGetWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Imports accounts.
  public func batchCreate(_ request: BatchCreateRequest, context: CallContext) async throws(AuthServiceError)
    -> BatchCreateResponse
  {
    try await caller.sendAsOwner(
      .batchCreate, context, isRepeatable: false, { try BatchCreateRequestWire.json(of: request) },
      { try BatchCreateResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Deletes accounts.
  public func batchDelete(_ request: BatchDeleteRequest, context: CallContext) async throws(AuthServiceError)
    -> BatchDeleteResponse
  {
    try await caller.sendAsOwner(
      .batchDelete, context, { try BatchDeleteRequestWire.json(of: request) },
      { try BatchDeleteResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  /// Deletes every account, page by page: the protocol has a call for it in local test suites alone.
  public func deleteAllAccounts(context: CallContext) async throws(AuthServiceError) {
    var token: String?
    repeat {
      let page = try await batchGet(BatchGetRequest(maxResults: 1_000, nextPageToken: token), context: context)
      guard !page.users.isEmpty else { return }
      let request = BatchDeleteRequest(localIDs: page.users.map(\.localID), force: true)
      if let error = try await batchDelete(request, context: context).errors.first {
        throw AuthServiceError(.internalError, "An account cannot be deleted: \(error.message)")
      }
      token = page.nextPageToken
    } while token?.isEmpty == false
  }

  /// Counts the accounts, or returns them.
  public func queryUsers(_ request: QueryUsersRequest, context: CallContext) async throws(AuthServiceError)
    -> QueryUsersResponse
  {
    try await caller.sendAsOwner(
      .query, context, { try QueryUsersRequestWire.json(of: request) },
      { try QueryUsersResponseWire.message(json: $0, ignoresUnknownNames: true) })
  }

  private func change(_ request: AdminUpdateRequest, _ context: CallContext) async throws(AuthServiceError) {
    try await caller.sendAsOwner(.update, context, { try AdminUpdateRequestWire.json(of: request) }, { _ in })
  }

  /// Reads an account that is there.
  private func user(_ localID: String, _ context: CallContext) async throws(AuthServiceError) -> AuthUser {
    let found = try await getUsers(GetUsersRequest(localIDs: [localID]), context: context)
    guard let user = found.users.first else { throw AuthServiceError(.userNotFound) }
    return user
  }

  // MARK: Codes

  /// Makes a code and hands it out instead of sending it.
  public func createOobLink(_ request: SendOobCodeRequest, context: CallContext) async throws(AuthServiceError)
    -> OobLink
  {
    try await caller.sendAsOwner(.sendOobCode, context, isRepeatable: false) {
      var object = try JSONObject(json: try SendOobCodeRequestWire.json(of: request))
      object["returnOobLink"] = true
      return try object.json()
    } _: {
      try OobLinkWire.message(json: $0, ignoresUnknownNames: true)
    }
  }

  /// The codes by e-mail that can still be used; none where the service records none.
  public func sentOobCodes(context: CallContext) async throws(AuthServiceError) -> [SentOobCode] {
    try await recorded("oobCodes", context) { try SentOobCodesWire.message(json: $0, ignoresUnknownNames: true) } ?? []
  }

  /// The codes to phones that can still be used; none where the service records none.
  public func sentVerificationCodes(context: CallContext) async throws(AuthServiceError) -> [SentVerificationCode] {
    try await recorded("verificationCodes", context) {
      try SentVerificationCodesWire.message(json: $0, ignoresUnknownNames: true)
    } ?? []
  }

  private func recorded<Value>(
    _ name: String, _ context: CallContext, _ read: (JSONValue) throws -> Value
  ) async throws(AuthServiceError) -> Value? {
    guard caller.options.recordsCodes else { return nil }
    do {
      return try await caller.sendToSuite(name, context, read)
    } catch {
      // A server in production has no such call, and records nothing.
      guard error.code == AuthServiceError.Code("NOT_FOUND") else { throw error }
      return nil
    }
  }
}
