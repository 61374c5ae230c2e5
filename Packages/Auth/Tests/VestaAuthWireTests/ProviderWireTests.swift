import Testing
import VestaAuthBackend
import VestaBytes
import VestaTesting

@testable import VestaAuthWire

extension SplitMix {
  /// A page with one provider of any kind.
  mutating func identityProvider() throws -> Sample {
    let id = pick(["oidc.a", "saml.b", "google.com", "apple.com"])
    var provider = IdentityProvider(
      id: id, displayName: maybe(), isEnabled: oneIn(2), clientID: maybe(), clientSecret: maybe(), issuer: maybe(),
      responseTypes: pick([[], [.idToken], [.code, .token]]))
    provider.saml = SAMLSettings(
      entityID: maybe(), signInURL: maybe(), certificates: oneIn(2) ? [] : [text(), text()], signsRequests: oneIn(2),
      serviceEntityID: maybe(), callbackURL: maybe())
    provider.apple = AppleSettings(
      teamID: maybe(), keyID: maybe(), privateKey: maybe(), bundleIDs: oneIn(2) ? [] : [text()])
    let page = ListProvidersResponse(providers: [provider.restricted], nextPageToken: maybe())
    let json = IdentityProviderWire.json(of: page, kind: provider.kind, project: "p", tenant: oneIn(2) ? nil : "t")
    return Sample(name: "provider \(id)", json: try json.json()) {
      try IdentityProviderWire.page(JSONObject(json: $0), kind: IdentityProvider.Kind(providerID: id)) == page
    }
  }

  mutating func hashConfig() throws -> Sample {
    let hash = pick([
      .scrypt(signerKey: bytes(9), saltSeparator: bytes(2), rounds: 8, memoryCost: 14),
      .standardScrypt(costLog2: below(20), blockSize: 8, parallelism: 1), .pbkdf2SHA256(rounds: 100),
      ImportHash.bcrypt, .text, .pbkdf2SHA1(rounds: 7),
    ])
    var config: JSONObject = ["signIn": ["allowDuplicateEmails": true]]
    try HashConfigWire.add(hash, to: &config)
    return Sample(name: "hash", json: try config.json()) {
      let config = try JSONObject(json: $0)
      return try HashConfigWire.hash(ofConfig: config) == hash
        && config["signIn"]?.object?["allowDuplicateEmails"] == true
    }
  }
}

@Suite struct ProviderWireTests {
  @Test func `providers have the members of the service`() throws {
    let provider = IdentityProvider(
      id: "oidc.acme", displayName: "Acme", isEnabled: true, clientID: "c", issuer: "https://a", responseTypes: [.code])
    #expect(
      text(try IdentityProviderWire.json(of: provider, project: "p", tenant: "t").json())
        == #"{"name":"projects/p/tenants/t/oauthIdpConfigs/oidc.acme","displayName":"Acme","enabled":true,"clientId":"c","issuer":"https://a","responseType":{"code":true}}"#
    )
    var apple = IdentityProvider(id: "apple.com", clientID: "c")
    (apple.apple.teamID, apple.apple.bundleIDs) = ("t", ["b"])
    #expect(
      text(try IdentityProviderWire.json(of: apple, project: "p", tenant: nil).json())
        == #"{"name":"projects/p/defaultSupportedIdpConfigs/apple.com","enabled":false,"clientId":"c","appleSignInConfig":{"codeFlowConfig":{"teamId":"t"},"bundleIds":["b"]}}"#
    )
    var config = JSONObject()
    try HashConfigWire.add(.standardScrypt(costLog2: 14, blockSize: 8, parallelism: 1), to: &config)
    #expect(
      text(try config.json())
        == #"{"signIn":{"hashConfig":{"algorithm":"STANDARD_SCRYPT","cpuMemCost":16384,"blockSize":8,"parallelization":1}}}"#
    )
    #expect(try HashConfigWire.hash(ofConfig: ["signIn": [:]]) == nil)
    #expect(try HashConfigWire.hash(ofConfig: [:]) == nil)
    #expect(throws: BytesError.self) {
      _ = try HashConfigWire.hash(ofConfig: ["signIn": ["hashConfig": ["algorithm": "ROT13"]]])
    }
  }

  @Test func `a mask has the paths of the members that change`() throws {
    for id in ["oidc.a", "saml.b", "google.com", "apple.com"] {
      let members = IdentityProvider.members(ofID: id)
      let change = IdentityProviderChange(IdentityProvider(id: id), members: members)
      let mask = IdentityProviderWire.mask(of: change)
      #expect(mask.count == members.count)
      let read = try IdentityProviderWire.change([:], id: id, mask: mask)
      #expect(read == change, "\(id)")
      let others = Set(IdentityProvider.Member.allCases).subtracting(members)
      #expect(IdentityProviderWire.mask(of: IdentityProviderChange(IdentityProvider(id: id), members: others)).isEmpty)
    }
    let change = try IdentityProviderWire.change(["displayName": "d", "issuer": "i"], id: "oidc.a", mask: ["issuer"])
    #expect(change.members == [.issuer] && change.provider.issuer == "i" && change.provider.displayName == nil)
    let cleared = try IdentityProviderWire.change(["displayName": .null], id: "saml.a", mask: ["displayName"])
    #expect(cleared.members == [.displayName] && cleared.provider.displayName == nil)
    let unmasked = try IdentityProviderWire.change(["displayName": "d", "enabled": .null], id: "oidc.a", mask: nil)
    #expect(unmasked.members == [.displayName])
    #expect(throws: BytesError.self) {
      _ = try IdentityProviderWire.change(["enabled": "yes"], id: "oidc.a", mask: nil)
    }
  }

  @Test func `routes are read as they were written, and others are none`() throws {
    let calls: [(IdentityProvider.Kind, String)] = [
      (.openIDConnect, "oidc.a"), (.saml, "saml.b"), (.standard, "google.com"),
    ]
    for (kind, id) in calls {
      for tenant in [nil, "t t"] {
        for call: AuthProviderRoute.Call in [
          .create(id), .get(id), .update(id, mask: ["a", "b.c"]), .update(id, mask: nil), .delete(id),
          .list(pageSize: 7, pageToken: "a&b"), .list(pageSize: 20, pageToken: nil),
        ] {
          let route = AuthProviderRoute(call, kind: kind, project: "p/q", tenant: tenant)
          #expect(try AuthProviderRoute(method: route.method, target: route.target) == route)
          let hosted = "/identitytoolkit.googleapis.com\(route.target)"
          #expect(try AuthProviderRoute(method: route.method, target: hosted) == route)
        }
      }
    }
    for (method, target) in [
      ("GET", "/v2/projects/p/oauthIdpConfigs/saml.b"), ("PUT", "/v2/projects/p/oauthIdpConfigs/oidc.a"),
      ("GET", "/v2/projects/p/others"), ("GET", "/v2/projects/p"), ("GET", "/v1/projects/p/oauthIdpConfigs"),
      ("GET", "/v2/projects/p/oauthIdpConfigs/oidc.a/b"), ("DELETE", "/v2/projects/p/oauthIdpConfigs"),
    ] {
      #expect(try AuthProviderRoute(method: method, target: target) == nil, "\(method) \(target)")
    }
  }

  @Test func `a word in place of a hash is no hash`() throws {
    let json: JSONValue = ["users": [["localId": "a", "passwordHash": "UkVEQUNURUQ="]]]
    let request = try BatchCreateRequestWire.value(json: json, ignoresUnknownNames: true)
    #expect(request.users.map(\.passwordHash) == [nil])
    let text = BatchGetRequest(maxResults: 7, nextPageToken: "a&b", hashForm: .text)
    #expect(try BatchGetWire.request(query: BatchGetWire.query(of: text)) == text)
    #expect(!BatchGetWire.query(of: BatchGetRequest()).contains("vesta"))
  }
}
