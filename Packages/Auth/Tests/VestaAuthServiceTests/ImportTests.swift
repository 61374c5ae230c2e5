import Testing
import VestaAuthBackend
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct ImportTests {
  @Test func `an imported user of a provider signs in to the imported account`() async throws {
    let world = World { $0.isDevelopment = true }
    var user = ImportedUser(localID: "ada")
    user.providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: "g1")]
    let response = try await world.engine.administration.batchCreate(BatchCreateRequest(users: [user]), context: .owner)
    #expect(response.errors.isEmpty)
    let signIn = try await world.engine.signInWithIdp(
      IdpSignInRequest(credential: IdpCredential(providerID: "google.com", idToken: #"{"sub":"g1"}"#)),
      context: world.context)
    #expect(signIn.localID == "ada" && !signIn.isNewUser)
  }

  @Test(arguments: [true, false])
  func `a user of an old system signs in with the password, whose hash is then a new one`(saltFirst: Bool) async throws
  {
    let world = World()
    let mixing = ImportHash.Mixing(isSaltFirst: saltFirst, separator: [7])
    let (salt, key): ([UInt8], [UInt8]) = (Array("pepper".utf8), [1, 2, 3])
    let batches: [(ImportHash, [UInt8])] = [
      (.hmac(.sha256, signerKey: key, mixing), FakeCrypto.digest("correct horse", salt: salt, signerKey: key)),
      (.digest(.sha512, rounds: 2, mixing), FakeCrypto.digest("correct horse", salt: salt, signerKey: [])),
    ]
    for (index, (hash, digest)) in batches.enumerated() {
      let email = "user\(index)@example.com"
      var user = ImportedUser(localID: "user\(index)", email: email)
      (user.passwordHash, user.salt) = (digest, salt)
      let response = try await world.engine.administration.batchCreate(
        BatchCreateRequest(users: [user], hash: hash), context: .owner)
      #expect(response.errors.isEmpty)
      let old = try #require(try await world.record(user.localID).passwordHash)
      for (attempt, isRight) in [("correct house", false), ("correct horse", true), ("correct horse", true)] {
        let request = PasswordSignInRequest(email: email, password: attempt)
        let refused = await refusal {
          _ = try await world.engine.signInWithPassword(request, context: world.context)
        }
        #expect((refused == nil) == isRight, "\(hash), \(attempt)")
      }
      #expect(try await world.record(user.localID).passwordHash != old)
    }
  }

  @Test func `each password in clear text is that of its account`() async throws {
    let world = World()
    var users = (0..<20).map { ImportedUser(localID: "user\($0)", email: "user\($0)@example.com") }
    for index in users.indices where index % 3 != 0 { users[index].rawPassword = "secret \(index)" }
    users[7].rawPassword = String(repeating: "x", count: 5_000)
    let response = try await world.engine.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
    #expect(response.errors.map(\.index) == [7])
    for index in [1, 2, 4, 19] { try await world.signIn("user\(index)@example.com", "secret \(index)") }
    #expect(await refusal { try await world.signIn("user5@example.com", "secret 4") } == .invalidLoginCredentials)
    #expect(try await world.record("user3").passwordHash == nil)
  }

  @Test func `hashes that need a key or costs are refused without them`() async throws {
    let world = World()
    var user = ImportedUser(localID: "ada")
    user.passwordHash = [UInt8](repeating: 1, count: 64)
    let mixing = ImportHash.Mixing()
    for hash: ImportHash in [
      .hmac(.md5, signerKey: [], mixing), .digest(.md5, rounds: 8193, mixing),
      .scrypt(signerKey: [], saltSeparator: [], rounds: 8, memoryCost: 14),
      .hmac(.sha1, signerKey: [1], ImportHash.Mixing(separator: [UInt8](repeating: 0, count: 65))),
    ] {
      let request = BatchCreateRequest(users: [user], hash: hash)
      #expect(
        await refusal { try await world.engine.administration.batchCreate(request, context: .owner) }
          == .invalidHashAlgorithm)
    }
    let plain = BatchCreateRequest(users: [user], hash: .digest(.md5, rounds: 0, mixing))
    #expect(
      try await world.engine.administration.batchCreate(plain, context: .owner).errors.isEmpty,
      "no rounds are one round")
  }

  @Test func `a conflict with another account names what is in use`() async throws {
    let world = World()
    var users = ["a", "b", "c", "d"].map { ImportedUser(localID: $0) }
    (users[0].email, users[0].phoneNumber) = ("ada@example.com", "+15550100")
    users[0].providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: "g1")]
    users[1].email = "ada@example.com"
    users[2].phoneNumber = "+15550100"
    users[3].providerUserInfo = [ProviderUserInfo(providerID: "google.com", rawID: "g1")]
    let response = try await world.engine.administration.batchCreate(BatchCreateRequest(users: users), context: .owner)
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
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, validSince: later), context: .owner)
    var user = ImportedUser(localID: made.localID)
    user.validSince = later - 50
    let request = BatchCreateRequest(users: [user], allowsOverwrite: true)
    #expect(try await world.engine.administration.batchCreate(request, context: .owner).errors.isEmpty)
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
    // The current one, and the sessions of the epoch before, which are refused as expired and not as unknown.
    #expect(rows <= 3)
  }

  @Test(arguments: [("", true), ("x", false), (String(repeating: "x", count: 256), false)])
  func `the name of a tenant is checked when it is changed too`(_ name: String, _ isRefused: Bool) async throws {
    let world = World()
    let tenant = try await world.engine.administration.createTenant(
      CreateTenantRequest(displayName: "t"), context: .owner)
    let request = UpdateTenantRequest(tenantID: tenant.tenantID, displayName: name)
    let refused = await refusal { try await world.engine.administration.updateTenant(request, context: .owner) }
    #expect(refused == (isRefused ? .invalidConfig : nil))
    let long = UpdateTenantRequest(tenantID: tenant.tenantID, displayName: String(repeating: "x", count: 257))
    #expect(
      await refusal { try await world.engine.administration.updateTenant(long, context: .owner) } == .invalidConfig)
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
