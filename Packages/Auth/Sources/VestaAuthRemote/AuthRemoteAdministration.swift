public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop

/// The calls of administrators on the accounts of an ``AuthRemote``, which makes it.
///
/// Here are the calls on the project and its tenants, and the calls that the protocol does not have; the calls on
/// accounts are in `AuthRemoteAdministration+Users.swift`.
public final class AuthRemoteAdministration: AuthAdminBackend {
  let caller: AuthRemoteCaller

  init(_ caller: AuthRemoteCaller) { self.caller = caller }

  /// Makes a session cookie of an ID token.
  public func createSessionCookie(
    _ request: CreateSessionCookieRequest, context: CallContext
  ) async throws(AuthServiceError) -> String {
    try await caller.send(.createSessionCookie, context, { try CreateSessionCookieRequestWire.json(of: request) }) {
      try SessionCookieWire.message(json: .object($0), ignoresUnknownNames: true)
    }
  }

  /// The settings of the project; settings without a member in the protocol have their defaults, but for the password
  /// policy, which is read as clients read it.
  public func projectConfig(context: CallContext) async throws(AuthServiceError) -> ProjectConfig {
    let policy = try await caller.passwordPolicy(context)
    return try await caller.send(.config, context) { object in
      var config = ProjectConfig(passwordPolicy: policy)
      try ProjectConfigWire.merge(object, into: &config)
      return config
    }
  }

  /// Changes some settings of the project in one step.
  ///
  /// - Throws: `NOT_IMPLEMENTED`, before anything is changed, for a setting that the protocol has no member for.
  public func updateProjectConfig(
    _ change: ProjectConfigChange, context: CallContext
  ) async throws(AuthServiceError) -> ProjectConfig {
    let current = try await projectConfig(context: context)
    var wanted = current
    wanted.take(change.members, from: change.config)
    guard ProjectConfigWire.canState(wanted, insteadOf: current) else { throw Self.unsayable }
    return try await caller.send(.updateConfig(mask: ProjectConfigWire.mask(of: change.members)), context) {
      try ProjectConfigWire.json(of: change.config, project: caller.project).json()
    } _: { object in
      var config = wanted
      try ProjectConfigWire.merge(object, into: &config)
      return config
    }
  }

  /// Makes a tenant.
  public func createTenant(_ request: CreateTenantRequest, context: CallContext) async throws(AuthServiceError)
    -> Tenant
  {
    try await caller.send(.createTenant, context, isRepeatable: false) {
      try TenantWire.json(of: request).json()
    } _: {
      try TenantWire.tenant($0)
    }
  }

  /// A tenant.
  public func tenant(id: String, context: CallContext) async throws(AuthServiceError) -> Tenant {
    try await caller.send(.tenant(id), context) { try TenantWire.tenant($0) }
  }

  /// Changes a tenant; properties that the request omits stay.
  public func updateTenant(_ request: UpdateTenantRequest, context: CallContext) async throws(AuthServiceError)
    -> Tenant
  {
    let mask = TenantWire.mask(of: request.members)
    return try await caller.send(.updateTenant(request.tenant.tenantID, mask: mask), context) {
      try TenantWire.json(of: request.tenant, project: caller.project).json()
    } _: {
      try TenantWire.tenant($0)
    }
  }

  /// Deletes a tenant with all its users.
  public func deleteTenant(id: String, context: CallContext) async throws(AuthServiceError) {
    try await caller.send(.deleteTenant(id), context, isRepeatable: false) { _ in }
  }

  /// The tenants page by page.
  public func listTenants(_ request: ListTenantsRequest, context: CallContext) async throws(AuthServiceError)
    -> ListTenantsResponse
  {
    try await caller.send(.listTenants(pageSize: request.pageSize, pageToken: request.pageToken), context) { object in
      let tenants = try (object["tenants"]?.array ?? []).map { try TenantWire.tenant($0.object ?? JSONObject()) }
      return ListTenantsResponse(tenants: tenants, nextPageToken: object["nextPageToken"]?.string)
    }
  }

  // MARK: Not in the protocol

  /// Not in the protocol: programs verify tokens themselves, with the keys of ``AuthRemote/publicKeys(context:)``.
  public func verifyIDToken(_ request: VerifyTokenRequest, context: CallContext) async throws(AuthServiceError)
    -> VerifiedToken
  {
    throw Self.absent("verify tokens", "Programs verify them with the public keys.")
  }

  /// Not in the protocol: programs verify cookies themselves.
  public func verifySessionCookie(
    _ request: VerifyTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> VerifiedToken {
    throw Self.absent("verify session cookies", "Programs verify them with the public keys.")
  }

  /// Not in the protocol: programs sign custom tokens themselves, with the key of a service account.
  public func createCustomToken(
    _ request: CreateCustomTokenRequest, context: CallContext
  ) async throws(AuthServiceError) -> String {
    throw Self.absent("make custom tokens", "Programs sign them with the key of a service account.")
  }

  /// Not in the protocol: the keys of service accounts are handed out where they are made.
  public func serviceAccountKey(context: CallContext) async throws(AuthServiceError) -> ServiceAccountKey {
    throw Self.absent("hand out the key of a service account", "It is handed out where the service runs.")
  }

  /// Not in the protocol: services change their keys themselves.
  public func rotateSigningKey(context: CallContext) async throws(AuthServiceError) {
    throw Self.absent("change the key of tokens", "It is changed where the service runs.")
  }

  private static func absent(_ what: String, _ instead: String) -> AuthServiceError {
    AuthServiceError(.notImplemented, "The protocol of the identity service has no call to \(what). \(instead)")
  }

  private static var unsayable: AuthServiceError {
    AuthServiceError(
      .notImplemented,
      """
      The protocol of the identity service has no member for a setting that is to change: whether all sign-ins are \
      refused, and the symbols of passwords, are set where the service runs.
      """)
  }
}
