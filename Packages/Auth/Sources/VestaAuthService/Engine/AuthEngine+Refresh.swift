public import VestaServiceInterop
import VestaCryptoInterop
public import VestaAuthBackend
import VestaStoreInterop

extension AuthEngine {
  /// How coarse `lastRefreshAt` is: so a refresh only reads, as a rule.
  private static let refreshGranularity: Int64 = 3_600_000

  /// Gives a new ID token for a refresh token.
  public func refresh(
    _ request: RefreshRequest, context: CallContext
  ) async throws(IdentityError) -> RefreshResponse {
    try await answer {
      let token = try Checks.present(request.refreshToken, or: .missingRefreshToken)
      guard let token = SessionToken(token) else { throw IdentityError(.invalidRefreshToken) }
      let hash = try hash(token.text)
      let grant = try await read { try await self.grant(token, hash: hash, context, in: $0) }
      if now - (grant.user.lastRefreshAt ?? 0) >= Self.refreshGranularity {
        try await noteRefresh(of: grant)
      }
      return RefreshResponse(
        tokens: try await tokens(grant), userID: grant.user.localID, projectID: projectID)
    }
  }

  /// The session of a refresh token with its account as it is now.
  private func grant(
    _ token: SessionToken, hash: [UInt8], _ context: CallContext, in reader: any StoreReader
  ) async throws -> Grant {
    let key = Keys.session(token.tenant, token.localID, hash)
    guard let session = try await reader.record(SessionRecord.self, key) else {
      throw IdentityError(.invalidRefreshToken)
    }
    let tenantID = token.tenant.isEmpty ? nil : token.tenant
    try checkTenant(tenantID, context)
    guard let user = try await reader.user(token.tenant, token.localID) else {
      throw IdentityError(.userNotFound)
    }
    guard session.epoch == user.epoch else { throw IdentityError(.tokenExpired) }
    guard !user.disabled else { throw IdentityError(.userDisabled) }
    return Grant(user: user, tenantID: tenantID, facts: session.facts, refreshToken: token.text)
  }

  private func noteRefresh(of grant: Grant) async throws {
    let (tenant, localID, now) = (grant.tenantID ?? "", grant.user.localID, now)
    try await write { transaction in
      guard var user = try await transaction.user(tenant, localID) else { return }
      user.lastRefreshAt = now
      try await transaction.put(user, Keys.user(tenant, localID))
    }
  }

  /// Has a provider's token revoked by what `AuthServiceOptions.tokenRevokers` names for the provider.
  ///
  /// Refuses with `NOT_IMPLEMENTED` where nothing is named. The session stays, and the provider stays linked.
  public func revokeToken(
    _ request: RevokeTokenRequest, context: CallContext
  ) async throws(IdentityError) {
    try await answer {
      let proof = try await proof(request.idToken, context: context)
      let caller = try await read { try await self.caller(proof, in: $0) }
      let providerID = try Checks.present(request.providerID, or: .missingProviderID)
      guard caller.user.providers.contains(where: { $0.providerID == providerID }) else {
        throw IdentityError(.invalidProviderID)
      }
      guard let revoke = options.tokenRevokers[providerID] else {
        throw IdentityError(.notImplemented, "AuthServiceOptions.tokenRevokers has nothing for \(providerID).")
      }
      try await revoke(request)
    }
  }

  /// The keys with which ID tokens and session cookies can be verified.
  public func publicKeys(context: CallContext) async throws(IdentityError) -> PublicKeysResponse {
    try await answer {
      let keys = try await keyRing.verifiers().map { try $0.jsonWebKey() }
      return PublicKeysResponse(jwks: JSONWebKeySet(keys: keys).publicJSON(), maximumAge: 3600)
    }
  }

  /// What passwords have to be like.
  public func passwordPolicy(context: CallContext) async throws(IdentityError) -> PasswordPolicy {
    try await answer {
      try await read { try await self.scope(context.tenantID, in: $0, checksDisabled: false).config.passwordPolicy }
    }
  }

  /// What a client may know of the project.
  public func publicProjectConfig(
    context: CallContext
  ) async throws(IdentityError) -> PublicProjectConfig {
    try await answer {
      guard context.tenantID?.isEmpty ?? true else { throw IdentityError(.unsupportedTenantOperation) }
      let config = try await read { try await self.projectConfig(in: $0) }
      return PublicProjectConfig(projectID: projectID, authorizedDomains: config.authorizedDomains)
    }
  }
}
