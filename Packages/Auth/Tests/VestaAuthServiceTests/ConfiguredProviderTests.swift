import Testing
import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

/// Sign-in by providers that an owner has set up.
@Suite struct ConfiguredProviderTests {
  private static let key = FakeKey(secret: "aa11bb22", keyID: "provider-key")

  /// Has keys of the issuers of the tests, and counts requests.
  private final class Keys: IdentityProviderKeySource {
    let asked = Locked<[String]>([])

    func keys(of issuer: String) async throws(AuthServiceError) -> [UInt8] {
      asked.withLock { $0.append(issuer) }
      guard issuer != "https://down.example" else { throw AuthServiceError(.unavailable) }
      // Sets of large issuers have keys that are of no use here.
      guard let key = try? ConfiguredProviderTests.key.jsonWebKey() else { throw AuthServiceError(.internalError) }
      let set = String(decoding: JSONWebKeySet(keys: [key]).publicJSON(), as: UTF8.self)
      return Array(set.replacing("[", with: #"[{"kty":"RSA"},{"kty":"none"},5,"#).utf8)
    }
  }

  private let keys = Keys()

  private func world(isDevelopment: Bool = false) -> World {
    World { [keys] in
      $0.identityProviderKeys = keys
      $0.isDevelopment = isDevelopment
    }
  }

  private func token(issuer: String = "https://id.acme.example", audience: String = "client") throws -> String {
    let claims: JWTObject = [
      "iss": .string(issuer), "aud": .string(audience), "sub": "1", "iat": .integer(World.start / 1000),
      "exp": .integer(World.start / 1000 + 3600),
    ]
    return try JWT.sign(claims, with: Self.key)
  }

  private func signIn(
    _ world: World, _ token: String, by provider: String = "oidc.acme", tenant: String? = nil
  ) async throws -> IdpSignInResponse {
    try await world.engine.signInWithIdp(
      IdpSignInRequest(credential: IdpCredential(providerID: provider, idToken: token)),
      context: CallContext(tenantID: tenant))
  }

  private func acme(
    isEnabled: Bool = true, client: String = "client", issuer: String = "https://id.acme.example"
  ) -> IdentityProvider {
    IdentityProvider(id: "oidc.acme", isEnabled: isEnabled, clientID: client, issuer: issuer)
  }

  @Test func `a provider that an owner has set up signs in with its tokens alone`() async throws {
    let world = world()
    let good = try token()
    #expect(await refusal { try await signIn(world, good) } == .operationNotAllowed)
    let settings = world.engine.administration.identityProviders
    _ = try await settings.createProvider(acme(), context: .owner)
    let made = try await signIn(world, good)
    #expect(made.isNewUser && made.outcome?.tokens != nil)
    #expect(try await signIn(world, good).localID == made.localID)
    for bad in [
      try token(issuer: "https://evil.example"), try token(audience: "other"), String(good.dropLast(4)),
      #"{"sub":"1"}"#, try JWT.sign(try JWT(unverified: good).claims, with: FakeKey(secret: "cc", keyID: "x")),
    ] {
      #expect(await refusal { try await signIn(world, bad) } == .invalidIdpResponse)
    }
    #expect(Set(keys.asked.withLock { $0 }) == ["https://id.acme.example"])
    try await settings.deleteProvider(id: "oidc.acme", context: .owner)
    #expect(await refusal { try await signIn(world, good) } == .operationNotAllowed)
  }

  @Test(arguments: [true, false])
  func `a provider that is not enabled refuses, also in development`(isDevelopment: Bool) async throws {
    let world = world(isDevelopment: isDevelopment)
    let settings = world.engine.administration.identityProviders
    _ = try await settings.createProvider(acme(isEnabled: false), context: .owner)
    #expect(await refusal { try await signIn(world, try token()) } == .operationNotAllowed)
    let change = IdentityProviderChange(acme(), members: [.isEnabled])
    _ = try await settings.updateProvider(change, context: .owner)
    #expect(try await signIn(world, try token()).isNewUser)
  }

  @Test func `known providers have their issuers and need a client, and others without ID tokens refuse`() async throws
  {
    let world = world()
    let settings = world.engine.administration.identityProviders
    for id in ["google.com", "apple.com", "github.com"] {
      _ = try await settings.createProvider(IdentityProvider(id: id, isEnabled: true), context: .owner)
    }
    let google = try token(issuer: "accounts.google.com")
    #expect(await refusal { try await signIn(world, google, by: "google.com") } == .invalidIdpResponse)
    let change = IdentityProviderChange(IdentityProvider(id: "google.com", clientID: "client"), members: [.clientID])
    _ = try await settings.updateProvider(change, context: .owner)
    #expect(try await signIn(world, google, by: "google.com").isNewUser)
    var apple = IdentityProvider(id: "apple.com")
    apple.apple.bundleIDs = ["client"]
    _ = try await settings.updateProvider(IdentityProviderChange(apple, members: [.appleBundleIDs]), context: .owner)
    let appleToken = try token(issuer: "https://appleid.apple.com")
    #expect(try await signIn(world, appleToken, by: "apple.com").isNewUser)
    #expect(await refusal { try await signIn(world, google, by: "github.com") } == .operationNotAllowed)
  }

  @Test func `a tenant's provider signs in to the tenant alone, and is deleted with it`() async throws {
    let world = world()
    let admin = world.engine.administration
    let tenant = try await admin.createTenant(CreateTenantRequest(displayName: "t"), context: .owner).tenantID
    var owner = CallContext.owner
    owner.tenantID = tenant
    _ = try await admin.identityProviders.createProvider(acme(client: "tenant"), context: owner)
    let good = try token(audience: "tenant")
    let made = try await signIn(world, good, tenant: tenant)
    let user = try await admin.getUsers(GetUsersRequest(localIDs: [made.localID ?? ""]), context: owner).users.first
    #expect(made.isNewUser && user?.tenantID == tenant)
    #expect(await refusal { try await signIn(world, good) } == .operationNotAllowed)
    try await admin.deleteTenant(id: tenant, context: .owner)
    let left = try await world.contents().filter { $0.key.first == 0x04 }
    #expect(left.isEmpty)
  }

  @Test func `an issuer that does not answer is unavailable, and the options of the program take precedence`()
    async throws
  {
    let world = world()
    let settings = world.engine.administration.identityProviders
    _ = try await settings.createProvider(acme(issuer: "https://down.example"), context: .owner)
    #expect(await refusal { try await signIn(world, try token(issuer: "https://down.example")) } == .unavailable)
    let trusted = IdentityProviderKeys(
      issuers: ["https://id.acme.example"], audiences: ["client"],
      keys: JSONWebKeySet(keys: [try Self.key.jsonWebKey()]))
    let fixed = World(store: world.store, crypto: world.crypto) { $0.identityProviders["oidc.acme"] = trusted }
    #expect(try await signIn(fixed, try token()).isNewUser)
  }
}
