public import VestaAuthBackend
import VestaAuthWire
import VestaBytes
public import VestaServiceInterop
import VestaTransportInterop

// The hashing of passwords and the identity providers; continues the calls of administrators.

extension AuthRemoteAdministration {
  /// How the project hashes passwords: `signIn.hashConfig` of its settings.
  ///
  /// - Throws: `NOT_IMPLEMENTED` where the service has no such settings, as local test suites have none.
  public func passwordHashing(context: CallContext) async throws(AuthServiceError) -> ImportHash {
    let hash = try await caller.send(.config, context) { try HashConfigWire.hash(ofConfig: $0) }
    guard let hash else {
      throw AuthServiceError(.notImplemented, "The settings of the service do not have the hashing of passwords.")
    }
    return hash
  }

  /// The identity providers of the project and of its tenants.
  public var identityProviders: any IdentityProviderSettings { RemoteIdentityProviders(caller: caller) }
}

/// The identity providers at a service on another machine.
struct RemoteIdentityProviders: IdentityProviderSettings {
  let caller: AuthRemoteCaller

  func createProvider(
    _ provider: IdentityProvider, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider {
    try await send(.create(provider.id), provider.kind, context, isRepeatable: false) {
      try json(of: provider, context)
    } _: {
      try IdentityProviderWire.provider($0)
    }
  }

  func provider(id: String, context: CallContext) async throws(AuthServiceError) -> IdentityProvider {
    try checkID(id)
    return try await send(.get(id), IdentityProvider.Kind(providerID: id), context) {
      try IdentityProviderWire.provider($0)
    }
  }

  func updateProvider(
    _ change: IdentityProviderChange, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider {
    let provider = change.provider
    try checkID(provider.id)
    let mask = IdentityProviderWire.mask(of: change)
    // An empty mask would mean everything that the body has.
    guard !mask.isEmpty else { return try await self.provider(id: provider.id, context: context) }
    return try await send(.update(provider.id, mask: mask), provider.kind, context) {
      try json(of: provider, context)
    } _: {
      try IdentityProviderWire.provider($0)
    }
  }

  func deleteProvider(id: String, context: CallContext) async throws(AuthServiceError) {
    try checkID(id)
    try await send(.delete(id), IdentityProvider.Kind(providerID: id), context, isRepeatable: false) { _ in }
  }

  func listProviders(
    _ request: ListProvidersRequest, context: CallContext
  ) async throws(AuthServiceError) -> ListProvidersResponse {
    let call = AuthProviderRoute.Call.list(pageSize: request.pageSize, pageToken: request.pageToken)
    return try await send(call, request.kind, context) {
      try IdentityProviderWire.page($0, kind: request.kind)
    }
  }

  /// Refuses an empty id: its path is that of the whole collection.
  private func checkID(_ id: String) throws(AuthServiceError) {
    if id.isEmpty { throw AuthServiceError(.configurationNotFound) }
  }

  private func json(of provider: IdentityProvider, _ context: CallContext) throws -> [UInt8] {
    try IdentityProviderWire.json(of: provider, project: caller.project, tenant: context.tenantID).json()
  }

  private func send<Value>(
    _ call: AuthProviderRoute.Call, _ kind: IdentityProvider.Kind, _ context: CallContext, isRepeatable: Bool = true,
    _ body: () throws -> [UInt8] = { [] }, _ read: (JSONObject) throws -> Value
  ) async throws(AuthServiceError) -> Value {
    let route = AuthProviderRoute(call, kind: kind, project: caller.project, tenant: context.tenantID)
    return try await caller.send(route, context, isRepeatable: isRepeatable, body, read)
  }
}
