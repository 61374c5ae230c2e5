import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct ImportTests {
  @Test func `an imported user of a provider signs in to the imported account`() async throws {
    let world = World { $0.isDevelopment = true }
    var user = ImportedUser(localID: "ada")
    user.providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: "g1")]
    let response = try await world.engine.batchCreate(BatchCreateRequest(users: [user]), context: .owner)
    #expect(response.errors.isEmpty)
    let signIn = try await world.engine.signInWithIdp(
      IdpSignInRequest(credential: IdpCredential(providerID: "google.com", idToken: #"{"sub":"g1"}"#)),
      context: world.context)
    #expect(signIn.localID == "ada" && !signIn.isNewUser)
  }

  @Test func `a conflict with another account names what is in use`() async throws {
    let world = World()
    var users = ["a", "b", "c", "d"].map { ImportedUser(localID: $0) }
    (users[0].email, users[0].phoneNumber) = ("ada@example.com", "+15550100")
    users[0].providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: "g1")]
    users[1].email = "ada@example.com"
    users[2].phoneNumber = "+15550100"
    users[3].providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: "g1")]
    let response = try await world.engine.batchCreate(BatchCreateRequest(users: users), context: .owner)
    #expect(response.errors.map(\.index) == [1, 2, 3])
    for (error, word) in zip(response.errors, ["email", "phone number", "raw id"]) {
      #expect(error.message == "\(word) exists in other account in database")
    }
  }

  @Test func `an import over an account takes no revocation back`() async throws {
    let world = World()
    let made = try await world.signUp()
    world.pass(seconds: 100)
    let later = world.now / 1000
    _ = try await world.engine.updateUser(
      AdminUpdateRequest(localID: made.localID, validSince: later), context: .owner)
    var user = ImportedUser(localID: made.localID)
    user.validSince = later - 50
    let request = BatchCreateRequest(users: [user], allowsOverwrite: true)
    #expect(try await world.engine.batchCreate(request, context: .owner).errors.isEmpty)
    #expect(try #require(try await world.record(made.localID).validSince) >= later)
    // Two epochs ago: the session is forgotten, and its token unknown.
    #expect(await refusal { try await world.refresh(made.tokens) } != nil)
  }

  @Test func `sessions that a change of the password has ended are forgotten`() async throws {
    let world = World()
    var tokens = try await world.signUp().tokens
    for number in 0..<8 {
      let request = UpdateRequest(idToken: tokens.idToken, password: "another horse \(number)")
      tokens = try #require(try await world.engine.update(request, context: world.context).tokens)
    }
    let rows = try await world.store.read { try await $0.entries(in: Keys.Table.session.prefix.range).count }
    // The current one, and those of the epoch before, which are refused as expired and not as unknown.
    #expect(rows <= 3)
  }

  @Test(arguments: [("", true), ("x", false), (String(repeating: "x", count: 256), false)])
  func `the name of a tenant is checked when it is changed too`(_ name: String, _ isRefused: Bool) async throws {
    let world = World()
    let tenant = try await world.engine.createTenant(CreateTenantRequest(displayName: "t"), context: .owner)
    let request = UpdateTenantRequest(tenantID: tenant.tenantID, displayName: name)
    let refused = await refusal { try await world.engine.updateTenant(request, context: .owner) }
    #expect(refused == (isRefused ? .invalidConfig : nil))
    let long = UpdateTenantRequest(tenantID: tenant.tenantID, displayName: String(repeating: "x", count: 257))
    #expect(await refusal { try await world.engine.updateTenant(long, context: .owner) } == .invalidConfig)
  }

  @Test func `a sign-in is recent for the whole window, and a password has up to 4096 bytes`() async throws {
    let world = World()
    let made = try await world.signUp()
    world.pass(seconds: world.options.recentSignInWindow.seconds)
    let longest = String(repeating: "x", count: 4_096)
    let change = UpdateRequest(idToken: made.tokens.idToken, password: longest)
    let changed = try await world.engine.update(change, context: world.context)
    let tooLong = UpdateRequest(idToken: try #require(changed.tokens).idToken, password: longest + "x")
    #expect(await refusal { try await world.engine.update(tooLong, context: world.context) } != nil)
    world.pass(seconds: 1)
    let late = UpdateRequest(idToken: try #require(changed.tokens).idToken, password: "another horse")
    #expect(
      await refusal { try await world.engine.update(late, context: world.context) } == .credentialTooOld)
  }
}
