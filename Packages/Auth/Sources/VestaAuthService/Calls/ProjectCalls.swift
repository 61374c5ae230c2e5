import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

// Refreshing sessions, and what a client may know of the project.

/// How coarse `lastRefreshAt` is, in milliseconds: so a refresh only reads, as a rule.
private let refreshGranularity: Int64 = 3_600_000

extension AccountOperation {
  func refresh(_ request: RefreshRequest) async throws -> RefreshResponse {
    let text = try Checks.present(request.refreshToken, or: .missingRefreshToken)
    guard let token = SessionToken(text) else { throw AuthServiceError(.invalidRefreshToken) }
    let grant = try await grant(token)
    if now - (grant.user.lastRefreshAt ?? 0) >= refreshGranularity { try await noteRefresh(of: token) }
    return RefreshResponse(
      tokens: try await tokens(grant), userID: grant.user.localID, projectID: projectID)
  }

  /// The session of a refresh token with its account as it is now; reads two rows and no settings.
  private func grant(_ token: SessionToken) async throws -> Grant {
    let key = Keys.session(token.tenant, token.localID, try core.secrets.hash(token.text))
    return try await core.read { reader in
      guard let session = try await reader.record(SessionRecord.self, key) else {
        throw AuthServiceError(.invalidRefreshToken)
      }
      try checkTenant(token.tenant.id)
      guard let user = try await reader.user(token.tenant, token.localID) else { throw AuthServiceError(.userNotFound) }
      guard session.epoch == user.epoch else { throw AuthServiceError(.tokenExpired) }
      guard !user.disabled else { throw AuthServiceError(.userDisabled) }
      return Grant(user: user, tenantID: token.tenant.id, facts: session.facts, refreshToken: token.text)
    }
  }

  private func noteRefresh(of token: SessionToken) async throws {
    let now = now
    try await core.write { transaction in
      guard var user = try await transaction.user(token.tenant, token.localID) else { return }
      user.lastRefreshAt = now
      try await transaction.put(user, Keys.user(token.tenant, token.localID))
    }
  }

  /// The keys with which ID tokens and session cookies can be verified.
  func publicKeys() async throws -> PublicKeysResponse {
    let keys = try await keyRing.verifiers().map { try $0.jsonWebKey() }
    return PublicKeysResponse(jwks: JSONWebKeySet(keys: keys).publicJSON(), maximumAge: 3600)
  }

  /// The same keys as certificates.
  func certificates() async throws -> CertificatesResponse {
    CertificatesResponse(certificates: try await keyRing.certificates(), maximumAge: 3600)
  }

  func passwordPolicy() async throws -> PasswordPolicy {
    try await read(checksDisabled: false) { $0.scope.config.passwordPolicy }
  }

  func publicProjectConfig() async throws -> PublicProjectConfig {
    guard context.tenantID?.isEmpty ?? true else { throw AuthServiceError(.unsupportedTenantOperation) }
    let config = try await read(checksDisabled: false) { $0.scope.config }
    return PublicProjectConfig(projectID: projectID, authorizedDomains: config.authorizedDomains)
  }
}
