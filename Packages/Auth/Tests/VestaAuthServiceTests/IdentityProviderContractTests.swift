import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthRemote
import VestaConcurrency
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// The contract of identity providers: the engine keeps it, alone and behind its endpoints, and for each promise there
/// is a wrong implementation that breaks it and nothing else.
@Suite(.timeLimit(.minutes(5))) struct IdentityProviderContractTests {
  private static func subject(
    _ admin: any AuthAdminBackend, _ settings: (any IdentityProviderSettings)? = nil
  ) -> IdentityProviderSubject {
    IdentityProviderSubject(settings ?? admin.identityProviders) {
      try await admin.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
    }
  }

  @Test(arguments: IdentityProviderContracts.all)
  func `the engine keeps every promise`(_ contract: Contract<IdentityProviderSubject>) async throws {
    try await contract.verify(Self.subject(World().engine.administration))
  }

  @Test(arguments: IdentityProviderContracts.all)
  func `an engine behind its endpoints keeps every promise`(_ contract: Contract<IdentityProviderSubject>) async throws
  {
    let served = try await Served.onFakeNetwork(isSuite: true)
    try await contract.verify(Self.subject(served.remote.administration))
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription, broken: String
    let change: @Sendable (inout WrongProviders) -> Void

    init(_ fault: String, breaks broken: String, change: @escaping @Sendable (inout WrongProviders) -> Void) {
      (testDescription, self.broken, self.change) = (fault, broken, change)
    }
  }

  @Test(arguments: faults) func `wrong settings break exactly their promise`(_ fault: Fault) async {
    let outcomes = await IdentityProviderContracts.all.run {
      let admin = World().engine.administration
      var wrong = WrongProviders(good: admin.identityProviders)
      fault.change(&wrong)
      return Self.subject(admin, wrong)
    }
    #expect(outcomes.filter { !$0.isKept }.map(\.name) == [fault.broken], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has settings that break it`() {
    #expect(Set(IdentityProviderContracts.all.map(\.name)) == Set(Self.faults.map(\.broken)))
  }

  static let faults: [Fault] = [
    Fault("forgets certificates", breaks: "a provider of each kind is read as it was created") { wrong in
      wrong.creates = { good, provider, context in
        var provider = provider
        if provider.saml.certificates.count > 1 { provider.saml.certificates.removeLast() }
        return try await good.createProvider(provider, context: context)
      }
    },
    Fault("answers with all that was sent", breaks: "a provider has the settings of its kind and no others") { wrong in
      wrong.creates = { good, provider, context in
        _ = try await good.createProvider(provider, context: context)
        return provider
      }
    },
    Fault("makes up an issuer", breaks: "a malformed or existing id and absent settings are refused") { wrong in
      wrong.creates = { good, provider, context in
        var provider = provider
        if provider.kind == .openIDConnect { provider.issuer = provider.issuer ?? "https://example.com" }
        return try await good.createProvider(provider, context: context)
      }
    },
    Fault("never removes a secret", breaks: "a change keeps the properties that it does not name") { wrong in
      wrong.updates = { good, change, context in
        var change = change
        if change.provider.clientSecret == nil { change.members.remove(.clientSecret) }
        return try await good.updateProvider(change, context: context)
      }
    },
    Fault("writes what it read before", breaks: "concurrent changes of different properties are all kept") { wrong in
      // All that read before one of the four has written keep the old properties of the others.
      let read = Locked<[IdentityProvider]>([])
      wrong.updates = { good, change, context in
        let old = try await good.provider(id: change.provider.id, context: context)
        guard change.members.isSubset(of: [.displayName, .clientID, .issuer, .responseToken, .responseCode]),
          old.id == "oidc.acme"
        else { return try await good.updateProvider(change, context: context) }
        if change.members == [.issuer], change.provider.issuer == nil {
          return try await good.updateProvider(change, context: context)
        }
        let first = read.withLock { kept in
          kept.append(old)
          return kept[0]
        }
        var provider = first
        provider.take(change.members, from: change.provider)
        let all = IdentityProviderChange(provider, members: IdentityProvider.members(ofID: provider.id))
        return try await good.updateProvider(all, context: context)
      }
    },
    Fault("deletes nothing without a word", breaks: "an unknown provider is not read, changed or deleted") { wrong in
      wrong.deletes = { good, id, context in
        do {
          try await good.deleteProvider(id: id, context: context)
        } catch AuthServiceError.Code.configurationNotFound {}
      }
    },
    Fault("disables in place of deleting", breaks: "a deleted provider can be created again") { wrong in
      wrong.deletes = { good, id, context in
        guard context.tenantID == nil else { return try await good.deleteProvider(id: id, context: context) }
        let change = IdentityProviderChange(IdentityProvider(id: id), members: [.isEnabled])
        _ = try await good.updateProvider(change, context: context)
      }
    },
    Fault(
      "ends after the first page",
      breaks: "the providers of one kind are listed in pages, each once and in the order of their ids"
    ) { wrong in
      wrong.lists = { good, request, context in
        var page = try await good.listProviders(request, context: context)
        page.nextPageToken = nil
        return page
      }
    },
    Fault("knows no tenants", breaks: "tenants and their project have separate providers") { wrong in
      wrong.lists = { good, request, context in
        var context = context
        context.tenantID = nil
        return try await good.listProviders(request, context: context)
      }
    },
  ]
}

/// Settings over good ones, whose methods can be replaced one by one.
struct WrongProviders: IdentityProviderSettings {
  typealias Good = any IdentityProviderSettings

  let good: Good
  var creates: @Sendable (Good, IdentityProvider, CallContext) async throws -> IdentityProvider = {
    try await $0.createProvider($1, context: $2)
  }
  var updates: @Sendable (Good, IdentityProviderChange, CallContext) async throws -> IdentityProvider = {
    try await $0.updateProvider($1, context: $2)
  }
  var deletes: @Sendable (Good, String, CallContext) async throws -> Void = {
    try await $0.deleteProvider(id: $1, context: $2)
  }
  var lists: @Sendable (Good, ListProvidersRequest, CallContext) async throws -> ListProvidersResponse = {
    try await $0.listProviders($1, context: $2)
  }

  private func typed<Value>(_ call: () async throws -> Value) async throws(AuthServiceError) -> Value {
    do { return try await call() } catch { throw error as? AuthServiceError ?? AuthServiceError(.internalError) }
  }

  func createProvider(
    _ provider: IdentityProvider, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider {
    try await typed { try await creates(good, provider, context) }
  }
  func provider(id: String, context: CallContext) async throws(AuthServiceError) -> IdentityProvider {
    try await good.provider(id: id, context: context)
  }
  func updateProvider(
    _ change: IdentityProviderChange, context: CallContext
  ) async throws(AuthServiceError) -> IdentityProvider {
    try await typed { try await updates(good, change, context) }
  }
  func deleteProvider(id: String, context: CallContext) async throws(AuthServiceError) {
    try await typed { try await deletes(good, id, context) }
  }
  func listProviders(
    _ request: ListProvidersRequest, context: CallContext
  ) async throws(AuthServiceError) -> ListProvidersResponse {
    try await typed { try await lists(good, request, context) }
  }
}
