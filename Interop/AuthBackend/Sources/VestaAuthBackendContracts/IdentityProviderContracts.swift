public import VestaAuthBackend
import VestaServiceInterop
public import VestaTesting

/// Settings of identity providers that are held to their contract, without any provider.
public struct IdentityProviderSubject: Sendable {
  /// The settings.
  public let settings: any IdentityProviderSettings

  /// Makes a tenant of the project and returns its id.
  public let makeTenant: @Sendable () async throws -> String

  /// Settings and the way to a new tenant.
  public init(_ settings: any IdentityProviderSettings, makeTenant: @escaping @Sendable () async throws -> String) {
    self.settings = settings
    self.makeTenant = makeTenant
  }
}

/// The promises of `IdentityProviderSettings` as checks.
public enum IdentityProviderContracts {
  /// All promises; each wants a fresh subject.
  public static let all: [Contract<IdentityProviderSubject>] = [
    Contract("a provider of each kind is read as it was created") { subject in
      for provider in samples {
        let made = try await subject.settings.createProvider(provider, context: .owner)
        try expect(made, equals: provider, "the response for \(provider.id)")
        let read = try await subject.settings.provider(id: provider.id, context: .owner)
        try expect(read, equals: provider, "the settings of \(provider.id)")
      }
    },
    Contract("a provider has the settings of its kind and no others") { subject in
      var google = IdentityProvider(id: "google.com", isEnabled: true, clientID: "c")
      let kept = google
      (google.issuer, google.saml, google.apple) = ("https://a.example", samples[1].saml, samples[2].apple)
      let made = try await subject.settings.createProvider(google, context: .owner)
      try expect(made, equals: kept, "the created provider")
      google.displayName = "Google"
      let change = IdentityProviderChange(google, members: Set(IdentityProvider.Member.allCases))
      let changed = try await subject.settings.updateProvider(change, context: .owner)
      try expect(changed, equals: kept, "the changed provider")
    },
    Contract("a malformed or existing id and absent settings are refused") { subject in
      let good = samples[0]
      _ = try await subject.settings.createProvider(good, context: .owner)
      var refused = [good]
      for id in ["", "password", "phone", "oidc.", "saml.", "a b"] {
        refused.append(IdentityProvider(id: id, clientID: "c", issuer: "https://a.example"))
      }
      refused.append(IdentityProvider(id: "oidc.a", clientID: "c"))
      refused.append(IdentityProvider(id: "oidc.a", issuer: "https://a.example"))
      refused.append(IdentityProvider(id: "saml.a"))
      for provider in refused {
        try await expectRefusal(.invalidConfig, of: "creating \(provider)") {
          try await subject.settings.createProvider(provider, context: .owner)
        }
      }
      var empty = good
      empty.issuer = nil
      try await expectRefusal(.invalidConfig, of: "a change that removes the issuer") {
        try await subject.settings.updateProvider(IdentityProviderChange(empty, members: [.issuer]), context: .owner)
      }
      try expect(
        try await subject.settings.provider(id: good.id, context: .owner), equals: good, "the provider after refusals")
    },
    Contract("a change keeps the properties that it does not name") { subject in
      var wanted = samples[0]
      _ = try await subject.settings.createProvider(wanted, context: .owner)
      var change = IdentityProvider(id: wanted.id)
      change.displayName = "Other"
      (wanted.displayName, wanted.clientSecret) = ("Other", nil)
      let changed = try await subject.settings.updateProvider(
        IdentityProviderChange(change, members: [.displayName, .clientSecret]), context: .owner)
      try expect(changed, equals: wanted, "the response")
      try expect(
        try await subject.settings.provider(id: wanted.id, context: .owner), equals: wanted, "the kept provider")
    },
    Contract("concurrent changes of different properties are all kept") { subject in
      let provider = samples[0]
      _ = try await subject.settings.createProvider(provider, context: .owner)
      let changes: [(IdentityProvider.Member, IdentityProvider)] = [
        (.displayName, IdentityProvider(id: provider.id, displayName: "New")),
        (.clientID, IdentityProvider(id: provider.id, clientID: "new")),
        (.issuer, IdentityProvider(id: provider.id, issuer: "https://new.example")),
        (.responseToken, IdentityProvider(id: provider.id, responseTypes: [.token])),
        (.responseCode, IdentityProvider(id: provider.id)),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (member, change) in changes {
          group.addTask {
            _ = try await subject.settings.updateProvider(
              IdentityProviderChange(change, members: [member]), context: .owner)
          }
        }
        try await group.waitForAll()
      }
      var wanted = provider
      for (member, change) in changes { wanted.take([member], from: change) }
      try expect(
        try await subject.settings.provider(id: provider.id, context: .owner), equals: wanted, "the kept provider")
    },
    Contract("an unknown provider is not read, changed or deleted") { subject in
      for id in ["oidc.none", "saml.none", "github.com", ""] {
        let change = IdentityProviderChange(IdentityProvider(id: id), members: [.isEnabled])
        try await expectRefusal(.configurationNotFound, of: "reading \(id)") {
          try await subject.settings.provider(id: id, context: .owner)
        }
        try await expectRefusal(.configurationNotFound, of: "changing \(id)") {
          try await subject.settings.updateProvider(change, context: .owner)
        }
        try await expectRefusal(.configurationNotFound, of: "deleting \(id)") {
          try await subject.settings.deleteProvider(id: id, context: .owner)
        }
      }
    },
    Contract("a deleted provider can be created again") { subject in
      for _ in 0..<2 {
        _ = try await subject.settings.createProvider(samples[0], context: .owner)
        try await subject.settings.deleteProvider(id: samples[0].id, context: .owner)
        try await expectRefusal(.configurationNotFound, of: "reading a deleted provider") {
          try await subject.settings.provider(id: samples[0].id, context: .owner)
        }
      }
    },
    Contract("the providers of one kind are listed in pages, each once and in the order of their ids") { subject in
      let ids = ["oidc.b", "oidc.a", "oidc.e", "oidc.d", "oidc.c"]
      for id in ids {
        _ = try await subject.settings.createProvider(
          IdentityProvider(id: id, clientID: "c", issuer: "https://a.example"), context: .owner)
      }
      for provider in samples.dropFirst() { _ = try await subject.settings.createProvider(provider, context: .owner) }
      var found: [String] = []
      var request = ListProvidersRequest(kind: .openIDConnect, pageSize: 2)
      repeat {
        let page = try await subject.settings.listProviders(request, context: .owner)
        try expect(page.providers.count <= 2, "a page has \(page.providers.count) providers")
        found += page.providers.map(\.id)
        request.pageToken = page.nextPageToken
      } while request.pageToken != nil && found.count <= ids.count
      try expect(found, equals: ids.sorted(), "the ids of all pages")
    },
    Contract("tenants and their project have separate providers") { subject in
      let tenants = [nil, try await subject.makeTenant(), try await subject.makeTenant()]
      for (index, tenant) in tenants.enumerated() {
        var provider = samples[0]
        provider.clientID = "client\(index)"
        _ = try await subject.settings.createProvider(provider, context: owner(tenant))
      }
      for (index, tenant) in tenants.enumerated() {
        let found = try await subject.settings.provider(id: samples[0].id, context: owner(tenant))
        try expect(found.clientID, equals: "client\(index)", "the client of tenant \(index)")
      }
      try await subject.settings.deleteProvider(id: samples[0].id, context: owner(tenants[1]))
      for (tenant, count) in zip(tenants, [1, 0, 1]) {
        let page = try await subject.settings.listProviders(
          ListProvidersRequest(kind: .openIDConnect), context: owner(tenant))
        try expect(page.providers.count, equals: count, "the number of providers")
      }
    },
  ]

  /// A provider of each kind with all of its settings.
  static let samples: [IdentityProvider] = [
    IdentityProvider(
      id: "oidc.acme", displayName: "Acme", isEnabled: true, clientID: "client", clientSecret: "secret",
      issuer: "https://id.acme.example", responseTypes: [.idToken, .code]),
    IdentityProvider(
      id: "saml.acme", displayName: "Acme", isEnabled: true,
      saml: SAMLSettings(
        entityID: "idp", signInURL: "https://id.acme.example/sso", certificates: ["one", "two"], signsRequests: true,
        serviceEntityID: "sp", callbackURL: "https://app.example/__/auth/handler")),
    IdentityProvider(
      id: "apple.com", clientID: "client",
      apple: AppleSettings(teamID: "team", keyID: "key", privateKey: "pem", bundleIDs: ["app.one"])),
  ]

  private static func owner(_ tenant: String?) -> CallContext {
    var context = CallContext.owner
    context.tenantID = tenant
    return context
  }
}
