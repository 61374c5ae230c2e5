import Testing
import VestaAuthBackend
import VestaBytes
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop

@testable import VestaAuthService

/// Identity providers against a model: two tables of names, one of the project and one of a tenant.
@Suite(.timeLimit(.minutes(5))) struct ProviderAttackTests {
  private static let ids = [
    "oidc.a", "oidc.A", "oidc.a.b", "oidc.a-b", "oidc.a_b", "saml.a", "saml.oidc.a", "google.com", "apple.com",
    "github.com",
    "oidc", "saml", "OIDC.a", "password.com",
  ]

  private func provider(_ id: String, _ random: inout SplitMix) -> IdentityProvider {
    var provider = IdentityProvider(
      id: id, displayName: random.oneIn(2) ? "n\(random.below(9))" : nil, isEnabled: random.oneIn(2),
      clientID: "c\(random.below(9))", clientSecret: random.oneIn(2) ? "s" : nil,
      issuer: "https://i\(random.below(9)).example", responseTypes: random.oneIn(2) ? [.code] : [.idToken])
    provider.saml = SAMLSettings(
      entityID: "e\(random.below(9))", signInURL: "https://s.example", certificates: ["c\(random.below(9))"],
      signsRequests: random.oneIn(2), serviceEntityID: "p", callbackURL: "https://c.example")
    provider.apple = AppleSettings(teamID: "t\(random.below(9))", keyID: "k", privateKey: "p", bundleIDs: ["b"])
    return provider
  }

  /// All providers of a kind, by pages of any size.
  private func all(
    _ settings: any IdentityProviderSettings, _ kind: IdentityProvider.Kind, _ size: Int, _ context: CallContext
  ) async throws -> [IdentityProvider] {
    var (found, token): ([IdentityProvider], String?) = ([], nil)
    repeat {
      let page = try await settings.listProviders(
        ListProvidersRequest(kind: kind, pageSize: size, pageToken: token), context: context)
      #expect(page.providers.count <= size && (page.nextPageToken == nil || !page.providers.isEmpty))
      found += page.providers
      token = page.nextPageToken
    } while token != nil
    return found
  }

  @Test func `any history of creations, changes, deletions and pages is that of two tables`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    for round in 0..<6 {
      var random = SplitMix(seed: seed &+ UInt64(round))
      let admin = World().engine.administration
      let settings = admin.identityProviders
      let tenant = try await admin.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
      var inTenant = CallContext.owner
      inTenant.tenantID = tenant
      let contexts = [CallContext.owner, inTenant]
      var model: [[String: IdentityProvider]] = [[:], [:]]
      for _ in 0..<120 {
        let (place, id) = (random.below(2), random.pick(Self.ids))
        let (context, value, had) = (contexts[place], provider(id, &random), model[place][id])
        switch random.below(4) {
        case 0:
          let refused = await refusal { try await settings.createProvider(value, context: context) }
          #expect(refused == (had == nil ? nil : .invalidConfig), "seed \(seed): \(id)")
          if had == nil { model[place][id] = value.restricted }
        case 1:
          let members = Set(IdentityProvider.Member.allCases.filter { _ in random.oneIn(3) })
          let change = IdentityProviderChange(value, members: members)
          let refused = await refusal { try await settings.updateProvider(change, context: context) }
          #expect(refused == (had == nil ? .configurationNotFound : nil), "seed \(seed): \(id)")
          guard var new = had else { continue }
          new.take(members, from: value)
          model[place][id] = new.restricted
        case 2:
          let refused = await refusal { try await settings.deleteProvider(id: id, context: context) }
          #expect(refused == (had == nil ? .configurationNotFound : nil), "seed \(seed): \(id)")
          model[place][id] = nil
        default:
          for kind in IdentityProvider.Kind.allCases {
            let found = try await all(settings, kind, 1 + random.below(4), context)
            let expected = model[place].values.filter { $0.kind == kind }.sorted { $0.id < $1.id }
            #expect(found == expected, "seed \(seed)")
          }
        }
        if let kept = model[place][id] {
          #expect(try await settings.provider(id: id, context: context) == kept, "seed \(seed): \(id)")
        }
      }
    }
  }

  @Test func `a page continues after a provider that was deleted, and the token of another list is refused`()
    async throws
  {
    let settings = World().engine.administration.identityProviders
    var random = SplitMix(seed: 1)
    for id in ["oidc.a", "oidc.b", "oidc.c", "saml.a"] {
      _ = try await settings.createProvider(provider(id, &random), context: .owner)
    }
    func page(
      _ token: String?, _ kind: IdentityProvider.Kind = .openIDConnect, size: Int = 5
    ) async throws -> ListProvidersResponse {
      try await settings.listProviders(
        ListProvidersRequest(kind: kind, pageSize: size, pageToken: token), context: .owner)
    }
    // The provider that the page ended with is deleted before the next page.
    let token = try #require(try await page(nil, size: 1).nextPageToken)
    try await settings.deleteProvider(id: "oidc.a", context: .owner)
    for first in [token, "", nil] { #expect(try await page(first).providers.map(\.id) == ["oidc.b", "oidc.c"]) }
    for text in ["oidc.a", "zzz", "\u{0}", "ü/\u{10FFFF}", String(repeating: "o", count: 100_000)] {
      #expect(await refusal { try await page(text) } == .invalidPageSelection, "\(text.prefix(20))")
    }
    #expect(await refusal { try await page(token, .saml) } == .invalidPageSelection)
    for size in [Int.min, -1, 0, 1, .max] {
      let page = try await settings.listProviders(
        ListProvidersRequest(kind: .openIDConnect, pageSize: size), context: .owner)
      #expect(page.providers.count == (size > 1 ? 2 : 1))
    }
  }

  @Test func `of creations at the same time two hundred succeed, in the project and in a tenant each`() async throws {
    let admin = World().engine.administration
    let settings = admin.identityProviders
    var inTenant = CallContext.owner
    inTenant.tenantID = try await admin.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
    for context in [CallContext.owner, inTenant] {
      let made = await withTaskGroup(of: AuthServiceError.Code?.self) { group in
        for number in 0..<210 {
          group.addTask {
            let value = IdentityProvider(id: "oidc.\(number)", clientID: "c", issuer: "https://i.example")
            return await refusal { try await settings.createProvider(value, context: context) }
          }
        }
        return await group.reduce(into: [AuthServiceError.Code?]()) { $0.append($1) }
      }
      #expect(made.count { $0 == nil } == 200 && made.count { $0 == .resourceExhausted } == 10)
      #expect(try await all(settings, .openIDConnect, 7, context).count == 200)
    }
  }

  @Test func `changes of different properties at the same time are all kept, and creations of one name make one`()
    async throws
  {
    let settings = World().engine.administration.identityProviders
    let made = await withTaskGroup(of: AuthServiceError.Code?.self) { group in
      for number in 0..<20 {
        group.addTask {
          let value = IdentityProvider(id: "oidc.a", clientID: "c\(number)", issuer: "https://i.example")
          return await refusal { try await settings.createProvider(value, context: .owner) }
        }
      }
      return await group.reduce(into: [AuthServiceError.Code?]()) { $0.append($1) }
    }
    #expect(made.count { $0 == nil } == 1 && made.count { $0 == .invalidConfig } == 19)
    let new = IdentityProvider(
      id: "oidc.a", displayName: "n", isEnabled: true, clientID: "x", clientSecret: "s", issuer: "https://j.example",
      responseTypes: [.code])
    try await withThrowingTaskGroup(of: Void.self) { group in
      for member in IdentityProvider.Member.allCases {
        group.addTask {
          _ = try await settings.updateProvider(IdentityProviderChange(new, members: [member]), context: .owner)
        }
      }
      try await group.waitForAll()
    }
    #expect(try await settings.provider(id: "oidc.a", context: .owner) == new)
  }

  @Test func `settings without which the kind cannot work are not taken away, and wrong ids are refused`() async throws
  {
    let settings = World().engine.administration.identityProviders
    let good = IdentityProvider(id: "oidc.a", isEnabled: true, clientID: "c", issuer: "https://i.example")
    _ = try await settings.createProvider(good, context: .owner)
    for (member, issuer) in [
      (IdentityProvider.Member.clientID, "https://i.example"), (.issuer, ""), (.issuer, "i.example"),
      (.issuer, "ftp://i"),
      (.issuer, "https://" + String(repeating: "i", count: 5_000)),
    ] {
      let change = IdentityProviderChange(IdentityProvider(id: "oidc.a", issuer: issuer), members: [member])
      #expect(await refusal { try await settings.updateProvider(change, context: .owner) } == .invalidConfig)
    }
    #expect(try await settings.provider(id: "oidc.a", context: .owner) == good)
    for id in [
      "", "oidc.", "saml.", "password", "phone", "anonymous", "custom", "emailLink", "firebase", "a/b", "a b", "ü",
      "..",
      "a\u{0}", String(repeating: "a", count: 129),
    ] {
      var value = good
      value.id = id
      let refused = await refusal { try await settings.createProvider(value, context: .owner) }
      if id == ".." { continue }
      #expect(refused == .invalidConfig, "\(id)")
    }
  }

  @Test(
    arguments: [
      // The masks of the Admin SDKs name single members of messages, in both cases of letters.
      ("displayName,responseType.idToken,responseType.code", ["responseType": ["code": true]], "code"),
      ("responseType", ["responseType": ["token": true]], "token"), ("responseType", [:], ""),
      ("responseType.code", [:], "idToken"), ("responseType.code", ["responseType": ["code": true]], "code,idToken"),
      ("unknown", ["responseType": ["code": true]], "idToken"),
      ("enabled", ["responseType": ["code": true]], "idToken"),
    ] as [(String, JSONObject, String)])
  func `a mask with single members of a message counts`(_ mask: String, _ body: JSONObject, _ expected: String)
    async throws
  {
    let server = EndpointWorld()
    let provider: JSONObject = [
      "displayName": "A", "clientId": "c", "issuer": "https://i.example", "responseType": ["idToken": true],
    ]
    _ = try await server.own("/oauthIdpConfigs?oauthIdpConfigId=oidc.a", provider, version: "v2")
    let changed = try await server.own(
      "/oauthIdpConfigs/oidc.a?updateMask=\(mask)", body, method: .patch, version: "v2")
    #expect(changed.status == 200)
    let types = changed["responseType"]?.object?.members.filter { $0.value == .bool(true) }.map(\.name).sorted() ?? []
    #expect(types.joined(separator: ",") == expected)
  }
}
