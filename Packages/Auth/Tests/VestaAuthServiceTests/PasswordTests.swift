import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

@Suite struct PasswordTests {
  @Test func `an unknown address costs a hash too`() async throws {
    let world = World()
    try await world.signUp()
    _ = try await world.engine.administration.createUser(CreateUserRequest(email: "idp@example.com"), context: .owner)
    for email in ["ada@example.com", "nobody@example.com", "idp@example.com"] {
      let before = world.crypto.passwordWork
      #expect(await refusal { try await world.signIn(email, "wrong horse") } == .invalidLoginCredentials)
      #expect(world.crypto.passwordWork == before + 1, "\(email)")
    }
  }

  @Test func `a project may say what was wrong`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    try await world.signUp()
    #expect(await refusal { try await world.signIn("ada@example.com", "wrong horse") } == .invalidPassword)
    #expect(await refusal { try await world.signIn("bob@example.com") } == .emailNotFound)
  }

  @Test func `a disabled account is refused before the password is checked`() async throws {
    let world = World()
    let made = try await world.signUp()
    _ = try await world.engine.administration.updateUser(
      AdminUpdateRequest(localID: made.localID, disabled: true), context: .owner)
    let before = world.crypto.passwordWork
    #expect(await refusal { try await world.signIn("ada@example.com", "wrong horse") } == .userDisabled)
    #expect(world.crypto.passwordWork == before)
    #expect(await refusal { try await world.refresh(made.tokens) } == .userDisabled)
    #expect(await refusal { try await world.lookup(made.tokens) } == .userDisabled)
  }

  @Test func `guesses are limited, and a right one resets the limit`() async throws {
    let world = World { $0.accountGuesses = RateLimit(burst: 3, refillInterval: .milliseconds(60_000)) }
    try await world.signUp()
    for _ in 0..<2 {
      #expect(await refusal { try await world.signIn("ada@example.com", "wrong") } == .invalidLoginCredentials)
    }
    try await world.signIn()
    for _ in 0..<3 {
      #expect(await refusal { try await world.signIn("ada@example.com", "wrong") } == .invalidLoginCredentials)
    }
    let before = world.crypto.passwordWork
    #expect(await refusal { try await world.signIn() } == .tooManyAttempts)
    #expect(world.crypto.passwordWork == before)
    // Addresses without account are limited alike, so the limit does not reveal accounts.
    for index in 0..<4 {
      let expected = index < 3 ? AuthServiceError.Code.invalidLoginCredentials : .tooManyAttempts
      #expect(await refusal { try await world.signIn("nobody@example.com", "wrong") } == expected)
    }
    world.pass(seconds: 60)
    try await world.signIn()
  }

  @Test func `guessing from one address ends too`() async throws {
    let world = World { $0.addressGuesses = RateLimit(burst: 5, refillInterval: .milliseconds(60_000)) }
    try await world.signUp()
    for index in 0..<6 {
      let expected = index < 5 ? AuthServiceError.Code.invalidLoginCredentials : .tooManyAttempts
      #expect(await refusal { try await world.signIn("user\(index)@example.com", "x", from: "192.0.2.1") } == expected)
    }
    try await world.signIn(from: "192.0.2.2")
  }

  @Test func `an old hash is replaced at the next sign-in`() async throws {
    let old = World()
    let made = try await old.signUp()
    let world = World(store: old.store, crypto: old.crypto) { $0.passwordScheme = .pbkdf2(.sha512, iterations: 2) }
    try await world.signIn()
    let user = try await world.store.read { try await $0.user("", made.localID) }
    #expect(user?.passwordHash?.hasPrefix("$pbkdf2-sha512$i=2$") == true)
    try await world.signIn()
    _ = try await world.refresh(made.tokens)
  }

  @Test func `a server for development leaves a good hash as it is`() async throws {
    let old = World { $0.passwordScheme = .standard }
    let made = try await old.signUp()
    for isDevelopment in [true, false] {
      let world = World(store: old.store, crypto: old.crypto) { $0.isDevelopment = isDevelopment }
      try await world.signIn()
      let hash = try await world.store.read { try await $0.user("", made.localID) }?.passwordHash
      #expect(hash?.hasPrefix("$scrypt$") == isDevelopment)
    }
  }

  @Test func `an imported Firebase hash signs in and is replaced`() async throws {
    let world = World()
    let (salt, key) = ([UInt8](repeating: 7, count: 16), [UInt8](repeating: 9, count: 64))
    let hash = FakeCrypto.digest("correct horse", salt: salt, signerKey: key)
    let request = BatchCreateRequest(
      users: [ImportedUser(localID: "ada", email: "ada@example.com", passwordHash: hash, salt: salt)],
      hash: .scrypt(signerKey: key, saltSeparator: [1], rounds: 8, memoryCost: 14))
    #expect(try await world.engine.administration.batchCreate(request, context: .owner).errors.isEmpty)
    #expect(await refusal { try await world.signIn("ada@example.com", "wrong") } == .invalidLoginCredentials)
    #expect(try await world.signIn().localID == "ada")
    let user = try await world.store.read { try await $0.user("", "ada") }
    #expect(user?.passwordHash?.hasPrefix("$pbkdf2-sha256$") == true && user?.signerKeyID == nil)
    try await world.signIn()
  }

  @Test func `the policy of the project counts`() async throws {
    let world = World {
      $0.initialConfig.passwordPolicy = PasswordPolicy(minimumLength: 10, requiresNumeric: true, isEnforced: true)
    }
    let refused = await refusal { try await world.signUp("ada@example.com", "horse") }
    #expect(refused == .passwordDoesNotMeetRequirements)
    try await world.signUp("ada@example.com", "correct horse 1")
    let policy = try await world.engine.passwordPolicy(context: world.context)
    #expect(policy.minimumLength == 10 && policy.isEnforced)
    var config = try await world.engine.administration.projectConfig(context: .owner)
    config.passwordPolicy.minimumLength = 20
    config.passwordPolicy.forcesUpgradeOnSignIn = true
    try await world.engine.administration.setProjectConfig(config, context: .owner)
    #expect(
      await refusal { try await world.signIn("ada@example.com", "correct horse 1") }
        == .passwordDoesNotMeetRequirements)
    #expect(await refusal { try await world.signIn("ada@example.com", "wrong") } == .invalidLoginCredentials)
  }

  @Test func `an anonymous account changes and ends without a recent sign-in`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    for deletes in [true, false] {
      let made = try await world.engine.signUp(SignUpRequest(), context: world.context)
      world.pass(seconds: 301)
      let token = made.tokens.idToken
      if deletes {
        try await world.engine.delete(DeleteRequest(idToken: token), context: world.context)
        #expect(await refusal { try await world.lookup(made.tokens) } == .userNotFound)
      } else {
        let change = UpdateRequest(idToken: token, email: "ada@example.com", password: "correct horse")
        _ = try await world.engine.update(change, context: world.context)
        #expect(try await world.signIn().localID == made.localID)
      }
    }
  }

  @Test func `changes of the account need a recent sign-in`() async throws {
    let world = World { $0.initialConfig.hidesEmails = false }
    let tokens = try await world.signUp().tokens
    world.pass(seconds: 301)
    let changes = [
      UpdateRequest(idToken: tokens.idToken, password: "another horse"),
      UpdateRequest(idToken: tokens.idToken, email: "new@example.com"),
      UpdateRequest(idToken: tokens.idToken, deleteAttributes: [.password]),
      UpdateRequest(idToken: tokens.idToken, deleteProviders: ["password"]),
    ]
    let before = try await world.contents()
    for change in changes {
      #expect(await refusal { try await world.engine.update(change, context: world.context) } == .credentialTooOld)
    }
    #expect(
      await refusal { try await world.engine.delete(DeleteRequest(idToken: tokens.idToken), context: world.context) }
        == .credentialTooOld)
    #expect(
      await refusal {
        try await world.engine.signUp(
          SignUpRequest(email: "ada@example.com", password: "another horse", idToken: tokens.idToken),
          context: world.context)
      } == .credentialTooOld)
    #expect(try await world.contents() == before)
    _ = try await world.engine.update(
      UpdateRequest(idToken: tokens.idToken, displayName: "Ada"), context: world.context)
  }

  @Test func `where passwords or anonymous accounts are off they are refused`() async throws {
    let world = World {
      $0.initialConfig.signIn.allowsPasswords = false
      $0.initialConfig.signIn.allowsAnonymous = false
    }
    #expect(await refusal { try await world.signUp() } == .operationNotAllowed)
    #expect(await refusal { try await world.signIn("", "") } == .passwordLoginDisabled)
    #expect(
      await refusal { try await world.engine.signUp(SignUpRequest(), context: world.context) } == .adminOnlyOperation)
    var config = try await world.engine.administration.projectConfig(context: .owner)
    config.signIn.isDisabled = true
    try await world.engine.administration.setProjectConfig(config, context: .owner)
    #expect(await refusal { try await world.signIn("", "") } == .projectDisabled)
  }

  @Test func `a hash of the preferred scheme is not made again at a sign-in`() async throws {
    let world = World()
    try await world.signUp()
    let before = world.crypto.passwordWork
    try await world.signIn()
    #expect(world.crypto.passwordWork == before + 1)
  }
}
