import VestaAuthBackend
import VestaBytes
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

/// The identity providers of a project and its tenants, as the store has them.
struct KeptIdentityProviders: IdentityProviderSettings {
  let administration: AuthAdministration

  func createProvider(
    _ provider: IdentityProvider, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider {
    try await administration.administer(context, as: ProviderOperation.self) { try await $0.create(provider) }
  }

  func provider(id: String, context: CallContext) async throws(AuthServiceError) -> IdentityProvider {
    try await administration.administer(context, as: ProviderOperation.self) { try await $0.provider(id) }
  }

  func updateProvider(
    _ change: IdentityProviderChange, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider {
    try await administration.administer(context, as: ProviderOperation.self) { try await $0.update(change) }
  }

  func deleteProvider(id: String, context: CallContext) async throws(AuthServiceError) {
    try await administration.administer(context, as: ProviderOperation.self) { try await $0.delete(id) }
  }

  func listProviders(
    _ request: ListProvidersRequest, context: CallContext
  ) async throws(AuthServiceError) -> ListProvidersResponse {
    try await administration.administer(context, as: ProviderOperation.self) { try await $0.list(request) }
  }
}

/// The calls about identity providers.
struct ProviderOperation: AuthOperation {
  let core: AuthCore
  let context: CallContext
}

extension ProviderOperation {
  fileprivate func create(_ provider: IdentityProvider) async throws -> IdentityProvider {
    let provider = provider.restricted
    try IdentityProviderCheck.check(provider)
    return try await write(checksDisabled: false) { call in
      let key = Keys.identityProvider(call.tenant, provider.id)
      guard try await call.reader.get(key) == nil else {
        throw IdentityProviderCheck.invalid("The identity provider \(provider.id) exists.")
      }
      let limit = options.tuning.identityProviders
      let count = try await call.reader.scan(Keys.identityProviders(call.tenant), order: .ascending, limit: limit) {
        _, _ in .next
      }.visited
      guard count < limit else {
        throw AuthServiceError(.resourceExhausted, "There are \(count) identity providers, which is the limit.")
      }
      try await call.transaction.put(IdentityProviderRecord(provider), key)
      return provider
    }
  }

  fileprivate func provider(_ id: String) async throws -> IdentityProvider {
    try await read(checksDisabled: false) { try await $0.identityProvider(id) }
  }

  fileprivate func update(_ change: IdentityProviderChange) async throws -> IdentityProvider {
    try await write(checksDisabled: false) { call in
      var provider = try await call.identityProvider(change.provider.id)
      provider.take(change.members.intersection(IdentityProvider.members(ofID: provider.id)), from: change.provider)
      try IdentityProviderCheck.check(provider)
      let key = Keys.identityProvider(call.tenant, provider.id)
      try await call.transaction.put(IdentityProviderRecord(provider), key)
      return provider
    }
  }

  fileprivate func delete(_ id: String) async throws {
    try await write(checksDisabled: false) { call in
      _ = try await call.identityProvider(id)
      try await call.transaction.delete(Keys.identityProvider(call.tenant, id))
    }
  }

  fileprivate func list(_ request: ListProvidersRequest) async throws -> ListProvidersResponse {
    try await read(checksDisabled: false) { call in
      var range = Keys.identityProviders(call.tenant)
      let pages = AccountPages.providers(request.kind, of: call.tenant)
      if let last = try pages.id(request.pageToken) { range = range.after(Keys.identityProvider(call.tenant, last)) }
      // All kinds are in one table, which is small.
      let kept = try await call.reader.entries(in: range, limit: nil).compactMap { entry -> IdentityProvider? in
        let id = try Keys.providerID(ofIdentityProvider: entry.key)
        guard IdentityProvider.Kind(providerID: id) == request.kind else { return nil }
        return try RecordCodec.decode(IdentityProviderRecord.self, from: entry.value).provider(id)
      }
      let page = Array(kept.prefix(min(max(1, request.pageSize), 100)))
      let token = page.count < kept.count ? pages.token(after: page.last?.id) : nil
      return ListProvidersResponse(providers: page, nextPageToken: token)
    }
  }
}

extension AuthCall {
  /// A provider that has to exist.
  fileprivate func identityProvider(_ id: String) async throws -> IdentityProvider {
    let key = Keys.identityProvider(tenant, id)
    guard let record = try await reader.record(IdentityProviderRecord.self, key) else {
      throw AuthServiceError(.configurationNotFound)
    }
    return record.provider(id)
  }
}

// MARK: Sign-in

/// How the credential of an identity provider is verified.
enum ProviderTrust: Sendable {
  /// By the signature of its ID token.
  case keys(IdentityProviderKeys)
  /// Not at all, in development.
  case unverified
}

extension SignInOperation {
  /// How the credential of a provider is verified: by the options of the program, or else by the settings in the store.
  ///
  /// - Parameters:
  ///   - providerID: The provider.
  ///   - proof: The token of the caller, whose tenant counts.
  func trust(in providerID: String, _ proof: Proof?) async throws -> ProviderTrust {
    if let keys = options.identityProviders[providerID] { return .keys(keys) }
    let kept = try await read(for: proof, checksDisabled: false) { call in
      try await call.reader.record(IdentityProviderRecord.self, Keys.identityProvider(call.tenant, providerID))
    }?.provider(providerID)
    if let kept, !kept.isEnabled {
      throw AuthServiceError(.operationNotAllowed, "The identity provider configuration is disabled.")
    }
    if options.isDevelopment { return .unverified }
    guard let kept, let source = options.identityProviderKeys, let issuer = kept.issuers.first else {
      throw AuthServiceError(
        .operationNotAllowed, "No keys are configured for \(providerID), so nothing it says can be verified.")
    }
    return .keys(
      IdentityProviderKeys(
        issuers: Set(kept.issuers), audiences: kept.audiences, keys: try usable(try await source.keys(of: issuer))))
  }

  /// The keys of a set that signatures can be verified with; sets of large issuers have others as well.
  private func usable(_ set: [UInt8]) throws -> JSONWebKeySet {
    guard let object = try? JSONObject(json: set), let members = object["keys"]?.array else {
      throw AuthServiceError(.invalidIdpResponse, "The issuer's keys are no JSON Web Key Set.")
    }
    return JSONWebKeySet(
      keys: members.compactMap { member in
        guard let bytes = try? member.json(), let key = try? JSONWebKey(json: bytes),
          (try? crypto.verificationKey(jsonWebKey: key)) != nil
        else { return nil }
        return key
      })
  }
}
