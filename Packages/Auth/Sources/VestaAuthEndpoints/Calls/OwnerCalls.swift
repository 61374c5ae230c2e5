import VestaAuthBackend
import VestaAuthWire
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop

// The calls of owners on accounts.

extension AuthExchange {
  /// The response to an owner; `nil` for a call that owners make as clients do.
  func respondToOwner(_ call: AuthRoute.Call) async throws -> [UInt8]? {
    switch call {
    case .signUp where object["idToken"] == nil:
      var request = try read(CreateUserRequestWire.self)
      if request.phoneNumber?.isEmpty == true { request.phoneNumber = nil }
      return try CreatedUserWire.json(of: try await admin.createUser(request, context: context))
    case .lookup where object["idToken"] == nil:
      let request = try read(GetUsersRequestWire.self)
      return try LookupResponseWire.json(of: try await admin.getUsers(request, context: context))
    case .update where object["idToken"] == nil && object["oobCode"] == nil:
      var request = try read(AdminUpdateRequestWire.self)
      // Forms send empty members; a number is removed by its name among the attributes to delete.
      if request.phoneNumber?.isEmpty == true { request.phoneNumber = nil }
      let user = try await admin.updateUser(request, context: context)
      return try UpdateResponseWire.json(of: UpdateResponse(user))
    case .delete where object["idToken"] == nil:
      try await admin.deleteUser(localID: try read(LocalIDWire.self), context: context)
      return Self.deleted
    case .sendOobCode where (object["returnOobLink"] ?? object["return_oob_link"])?.bool == true:
      let request = try read(SendOobCodeRequestWire.self)
      var made = try await admin.createOobLink(request, context: context)
      made.oobLink = link(made.oobLink)
      return try OobLinkWire.json(of: made)
    default: return try await respondToBatch(call)
    }
  }

  private func respondToBatch(_ call: AuthRoute.Call) async throws -> [UInt8]? {
    switch call {
    case .batchGet:
      guard !namesNoProject else { throw AuthServiceError(.init("INSUFFICIENT_PERMISSION")) }
      let request = try BatchGetWire.request(query: batchGetQuery)
      return try BatchGetWire.json(of: try await admin.batchGet(request, context: context))
    case .batchCreate:
      let request = try (host.isDevelopment ? withClearPasswords : self).read(BatchCreateRequestWire.self)
      return try BatchCreateResponseWire.json(of: try await admin.batchCreate(request, context: context))
    case .batchDelete:
      let request = try read(BatchDeleteRequestWire.self)
      return try BatchDeleteResponseWire.json(of: try await admin.batchDelete(request, context: context))
    case .query:
      try checkQuery()
      let request = try read(QueryUsersRequestWire.self)
      return try QueryUsersResponseWire.json(of: try await admin.queryUsers(request, context: context))
    default: return nil
    }
  }
}

extension AuthExchange {
  /// The query of a page of accounts, whose members are in the body in the third version.
  private var batchGetQuery: String {
    guard !object.members.isEmpty else { return query }
    var fields = FormFields()
    fields.append("maxResults", object["maxResults"].flatMap { $0.string ?? $0.integer.map { "\($0)" } })
    fields.append("nextPageToken", object["nextPageToken"]?.string)
    return fields.text
  }

  /// The call with passwords in clear text, where accounts have them in the form of Firebase's emulators.
  private var withClearPasswords: AuthExchange {
    guard case .array(let users)? = object["users"] else { return self }
    var object = object
    object["users"] = .array(users.map { $0.object.map { .object(ExportedAccount.imported($0)) } ?? $0 })
    return AuthExchange(
      host: host, origin: origin, project: project, namesNoProject: namesNoProject, context: context, query: query,
      body: body, object: object)
  }

  /// Refuses a query with conditions: the answer would be all accounts, whatever it asks for.
  private func checkQuery() throws {
    let absent = ["expression", "limit", "offset"].first { name in
      switch object[name] {
      case nil, .null?: false
      case .array(let all)?: !all.isEmpty
      case let value?: value.string.map { $0 != "0" } ?? (value.integer != 0)
      }
    }
    let order = (object["sortBy"] ?? object["sort_by"])?.string ?? "USER_ID"
    guard absent == nil, ["USER_ID", "SORT_BY_FIELD_UNSPECIFIED"].contains(order) else {
      throw AuthServiceError(
        .notImplemented, "Accounts are queried as a whole, by their ids: \(absent ?? "sortBy") has no effect.")
    }
  }
}

extension UpdateResponse {
  fileprivate init(_ user: AuthUser) {
    self.init(
      localID: user.localID, email: user.email, emailVerified: user.emailVerified, displayName: user.displayName,
      photoURL: user.photoURL, hasPassword: user.hasPassword, providerUserInfo: user.providerUserInfo)
  }
}
