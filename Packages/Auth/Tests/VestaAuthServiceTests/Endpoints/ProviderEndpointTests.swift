import Testing
import VestaAuthBackend
import VestaAuthEndpoints
import VestaBytes
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthService

/// Identity providers and the hashing of passwords over the routes, as SDKs of administrators call them.
@Suite struct ProviderEndpointTests {
  private let provider: JSONObject = [
    "displayName": "Acme", "enabled": true, "clientId": "c", "issuer": "https://id.acme.example",
    "responseType": ["idToken": true],
  ]

  @Test func `an owner creates, reads, changes, lists and deletes a provider`() async throws {
    let server = EndpointWorld()
    let made = try await server.own("/oauthIdpConfigs?oauthIdpConfigId=oidc.acme", provider, version: "v2")
    var expected = provider
    expected["name"] = "projects/demo/oauthIdpConfigs/oidc.acme"
    #expect(made.status == 200)
    for member in expected.members { #expect(made[member.name] == member.value, "\(member.name)") }
    let read = try await server.own("/oauthIdpConfigs/oidc.acme", method: .get, version: "v2")
    #expect(read.body == made.body)
    let changed = try await server.own(
      "/oauthIdpConfigs/oidc.acme?updateMask=displayName,enabled", ["displayName": "B", "clientId": "x"],
      method: .patch, version: "v2")
    #expect(changed["displayName"] == "B" && changed["enabled"] == false && changed["clientId"] == "c")
    let page = try await server.own("/oauthIdpConfigs?pageSize=5", method: .get, version: "v2")
    #expect(page["oauthIdpConfigs"]?.array == [.object(changed.body)] && page["nextPageToken"] == nil)
    #expect(try await server.own("/inboundSamlConfigs", method: .get, version: "v2").body == [:])
    let again = try await server.own("/oauthIdpConfigs?oauthIdpConfigId=oidc.acme", provider, version: "v2")
    #expect(again.message?.hasPrefix("INVALID_CONFIG") == true && again.status == 400)
    #expect(try await server.own("/oauthIdpConfigs/oidc.acme", method: .delete, version: "v2").status == 200)
    let gone = try await server.own("/oauthIdpConfigs/oidc.acme", method: .get, version: "v2")
    #expect(gone.message == "CONFIGURATION_NOT_FOUND")
  }

  @Test func `a new provider is of the kind of its collection and has an id`() async throws {
    let server = EndpointWorld()
    for (collection, body) in [
      ("oauthIdpConfigs?oauthIdpConfigId=saml.acme", provider),
      ("defaultSupportedIdpConfigs?idpId=oidc.acme", provider),
      ("defaultSupportedIdpConfigs", ["name": "projects/demo/defaultSupportedIdpConfigs/"]),
      ("defaultSupportedIdpConfigs", [:]),
    ] as [(String, JSONObject)] {
      let answer = try await server.own("/\(collection)", body, version: "v2")
      #expect(answer.message?.hasPrefix("INVALID_CONFIG") == true, "\(collection)")
    }
    let named: JSONObject = ["name": "projects/demo/defaultSupportedIdpConfigs/google.com", "clientId": "c"]
    #expect(try await server.own("/defaultSupportedIdpConfigs", named, version: "v2").status == 200)
  }

  @Test func `a caller that is no owner is refused`() async throws {
    let server = EndpointWorld(isDevelopment: false)
    let user = try await server.world.signUp()
    for token in [user.tokens.idToken, "nonsense"] {
      for (method, name) in [(HTTPMethod.get, "/oauthIdpConfigs"), (.get, "/config")] {
        let answer = try await server.own(name, method: method, version: "v2", token: token)
        #expect(answer.status == (token == "nonsense" ? 401 : 403))
      }
    }
  }

  @Test func `the settings of the project state how passwords are hashed`() async throws {
    let server = EndpointWorld()
    let config = try await server.own("/config", method: .get, version: "v2")
    let hash = config["signIn"]?.object?["hashConfig"]?.object
    #expect(hash == ["algorithm": "PBKDF2_SHA256", "rounds": 1])
    _ = try await server.world.signUp()
    let page = try await server.own("/accounts:batchGet", method: .get)
    let user = page["users"]?.array?.first?.object
    #expect(user?["passwordHash"]?.string != nil && user?["salt"]?.string != nil)
  }
}

/// The keys of issuers by HTTP.
@Suite struct HTTPProviderKeysTests {
  /// An issuer at `http://localhost`, whose documents a test changes.
  private final class Issuer: HTTPHandler {
    let documents: JSONObject
    let field: String
    let count = Counter()

    init(_ documents: JSONObject, cacheControl field: String = "public, max-age=60") {
      (self.documents, self.field) = (documents, field)
    }

    func reply(to request: HTTPRequest) -> HTTPReply {
      _ = count.next()
      guard let document = documents[request.target]?.object, let bytes = try? document.json() else {
        return .response(HTTPResponse(HTTPStatus(404), fields: [:], body: .bytes([])))
      }
      return .response(HTTPResponse(fields: ["cache-control": field], body: .bytes(bytes)))
    }
  }

  private static let keys: JSONObject = ["keys": [["kty": "RSA"]]]
  private static let good: JSONObject = [
    "/.well-known/openid-configuration": ["issuer": "http://localhost:80", "jwks_uri": "http://localhost:80/keys"],
    "/keys": .object(keys),
  ]

  private func source(_ issuer: Issuer, _ clock: ServiceClock) async throws -> HTTPProviderKeys {
    let network = FakeNetwork()
    _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: issuer)
    return HTTPProviderKeys(clock: clock) { network }
  }

  @Test func `keys are found by discovery and cached for as long as the issuer allows`() async throws {
    let world = World()
    let issuer = Issuer(Self.good)
    let source = try await source(issuer, world.options.clock)
    for _ in 0..<3 { #expect(try await source.keys(of: "http://localhost:80") == Self.keys.json()) }
    #expect(issuer.count.next() == 3)
    world.pass(seconds: 61)
    _ = try await source.keys(of: "http://localhost:80")
    #expect(issuer.count.next() == 6)
  }

  @Test func `keys of another issuer, malformed ones and addresses without HTTPS are refused`() async throws {
    let world = World()
    let named = { (issuer: String, address: String) -> JSONObject in
      [
        "/.well-known/openid-configuration": ["issuer": .string(issuer), "jwks_uri": .string(address)],
        "/keys": ["keys": 5],
      ]
    }
    for (documents, issuer, code) in [
      (named("https://evil.example", "http://localhost:80/keys"), "http://localhost:80", .invalidIdpResponse),
      (named("http://localhost:80", "http://localhost:80/keys"), "http://localhost:80", .invalidIdpResponse),
      (named("http://localhost:80", "http://other.example/keys"), "http://localhost:80", .invalidIdpResponse),
      (named("http://localhost:80", "http://localhost:80/none"), "http://localhost:80", .unavailable),
      ([:], "http://localhost:80", .unavailable), (Self.good, "http://other.example", .invalidIdpResponse),
      (Self.good, "https://nowhere.example", .unavailable), (Self.good, "nonsense", .unavailable),
    ] as [(JSONObject, String, AuthServiceError.Code)] {
      let source = try await source(Issuer(documents), world.options.clock)
      #expect(await refusal { try await source.keys(of: issuer) } == code, "\(issuer), \(documents)")
    }
  }
}
