import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaAuthService

/// The calls of passkeys, in short forms.
struct PasskeyCaller {
  let world: World

  func options() async throws -> PasskeyRequestOptions {
    try await world.engine.startPasskeySignIn(context: world.context)
  }

  func start(_ tokens: AuthTokens) async throws -> PasskeyCreationOptions {
    try await world.engine.startPasskeyEnrollment(
      StartPasskeyEnrollmentRequest(idToken: tokens.idToken), context: world.context)
  }

  @discardableResult
  func finish(
    _ tokens: AuthTokens, _ registration: FinalizePasskeyEnrollmentRequest.Registration
  ) async throws -> FinalizePasskeyEnrollmentResponse {
    try await world.engine.finalizePasskeyEnrollment(
      FinalizePasskeyEnrollmentRequest(idToken: tokens.idToken, registration: registration), context: world.context)
  }

  @discardableResult
  func enroll(
    _ tokens: AuthTokens, _ authenticator: VirtualAuthenticator = .fake()
  ) async throws -> FinalizePasskeyEnrollmentResponse {
    try await finish(tokens, authenticator.registration(for: try await start(tokens)))
  }

  @discardableResult
  func signIn(_ assertion: FinalizePasskeySignInRequest.Assertion) async throws -> FinalizePasskeySignInResponse {
    try await world.engine.finalizePasskeySignIn(
      FinalizePasskeySignInRequest(assertion: assertion), context: world.context)
  }
}

/// Attacks on passkeys, and on the service by means of them.
@Suite struct PasskeyAttackTests {
  @Test func `a page within a page of another origin neither adds a passkey nor signs in`() async throws {
    let world = World()
    let caller = PasskeyCaller(world: world)
    let made = try await world.signUp()
    var framed = VirtualAuthenticator.fake()
    framed.isCrossOrigin = true
    let authenticator = framed
    #expect(await refusal { try await caller.enroll(made.tokens, authenticator) } == .invalidAuthenticatorResponse)
    try await caller.enroll(made.tokens)
    let assertion = try framed.assertion(for: try await caller.options())
    #expect(await refusal { try await caller.signIn(assertion) } == .invalidAuthenticatorResponse)
  }

  // MARK: Keys

  private func rsa(_ n: [UInt8], _ e: [UInt8]) -> [UInt8] {
    func bytes(_ bytes: [UInt8]) -> [UInt8] { [0x59, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
    return [0xA4, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20] + bytes(n) + [0x21] + bytes(e)
  }

  @Test func `keys of RSA are no larger than authenticators make them`() throws {
    let modulus = [UInt8](repeating: 0xFF, count: 512)
    for e: [UInt8] in [[3], [1, 0, 1], [0xFF, 0xFF, 0xFF, 0xFF]] { _ = try PasskeyKey(rsa(modulus, e)) }
    // With an exponent of one, everyone can sign; with a long one, or a long modulus, each look takes long.
    for e: [UInt8] in [[], [0], [1], [0, 0, 1], [0, 1, 0, 1], [2], [1, 0, 0], [1, 0, 0, 0, 1], modulus] {
      #expect(throws: BytesError.self, "\(e)") { try PasskeyKey(rsa(modulus, e)) }
    }
    #expect(throws: BytesError.self) { try PasskeyKey(rsa([1] + modulus, [1, 0, 1])) }
  }

  @Test func `a key with anything else in it is not kept`() async throws {
    let world = World()
    let made = try await world.signUp()
    let caller = PasskeyCaller(world: world)
    let start = try await caller.start(made.tokens)
    var registration = VirtualAuthenticator.fake().registration(for: start)
    // The authenticator's data, whose key has a member of 60,000 bytes more.
    let filler: [UInt8] = [0x20 + 9, 0x59, 0xEA, 0x60] + [UInt8](repeating: 7, count: 60_000)
    let attestation = try #require(registration.attestationObject)
    var reader = CBORReader(attestation[...])
    var data = try #require(try reader.value()[.text("authData")]?.bytes)
    let key = 32 + 1 + 4 + 16 + 2 + 32
    #expect(data[key] == 0xA4)
    data[key] = 0xA5
    data += filler
    registration.attestationObject =
      [0xA1, 0x68] + Array("authData".utf8) + [0x5A, 0, 0] + [UInt8(data.count >> 8), UInt8(data.count & 0xFF)] + data
    let padded = registration
    #expect(await refusal { try await caller.finish(made.tokens, padded) } == .invalidAuthenticatorResponse)
    #expect(try await world.contents().allSatisfy { $0.value.count < 5_000 })
  }

  @Test func `numbers of a signature are written in one way`() throws {
    let key = try PasskeyKey(
      [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32] + [UInt8](repeating: 1, count: 32)
        + [0x22, 0x58, 32] + [UInt8](repeating: 2, count: 32))
    let half = [UInt8](repeating: 0x55, count: 32)
    #expect(key.signature([0x30, 68, 2, 32] + half + [2, 32] + half) == half + half)
    let high = [0x80] + half.dropFirst()
    #expect(key.signature([0x30, 69, 2, 33, 0] + high + [2, 32] + half) == high + half)
    // Negative numbers, surplus zeros, no digits, long lengths, what follows, and the form of JSON Web Signatures.
    for wrong: [UInt8] in [
      [0x30, 68, 2, 32] + high + [2, 32] + half, [0x30, 69, 2, 33, 0] + half + [2, 32] + half,
      [0x30, 36, 2, 0, 2, 32] + half, [0x30, 0x81, 68, 2, 32] + half + [2, 32] + half,
      [0x30, 69, 2, 32] + half + [2, 32] + half + [0], [0x30, 68, 2, 32] + half + [2, 32] + half + [0],
      [0x30, 0x80, 2, 32] + half + [2, 32] + half + [0, 0], [], [0x30], half + half,
    ] { #expect(key.signature(wrong).isEmpty, "\(wrong)") }
  }

  // MARK: Sign-ins

  @Test func `a wrong signature waits for no other write, and begins none`() async throws {
    let store = HookedStore()
    let world = World(store: store)
    let made = try await world.signUp()
    let caller = PasskeyCaller(world: world)
    try await caller.enroll(made.tokens)
    var forged = try VirtualAuthenticator.fake().assertion(for: try await caller.options())
    forged.signature?[0] ^= 1
    let (assertion, writes) = (forged, store.counts.writes)
    #expect(await refusal { try await caller.signIn(assertion) } == .invalidAuthenticatorResponse)
    #expect(await refusal { try await caller.signIn(.init(credentialID: "AAAA")) } == .passkeyCredentialNotFound)
    #expect(store.counts.writes == writes)
  }

  @Test(arguments: [true, false])
  func `a passkey that is replaced during a sign-in does not sign in`(isSameAccount: Bool) async throws {
    let store = HookedStore()
    let world = World(store: store)
    let (ada, eve) = (try await world.signUp(), try await world.signUp("eve@example.com"))
    let caller = PasskeyCaller(world: world)
    try await caller.enroll(ada.tokens)
    let owner = isSameAccount ? ada.tokens : eve.tokens
    var other = VirtualAuthenticator.fake(2)
    other.credentialID = VirtualAuthenticator.fake().credentialID
    let registration = other.registration(for: try await caller.start(owner))
    let assertion = try VirtualAuthenticator.fake().assertion(for: try await caller.options())
    // Between the look at the signature and the write, the passkey is removed, and another one has its id.
    store.hook { step in
      guard step == .write else { return }
      store.hook(nil)
      let removal = UpdateRequest(
        idToken: ada.tokens.idToken, deletePasskeys: [VirtualAuthenticator.fake().id])
      _ = try await world.engine.update(removal, context: world.context)
      try await caller.finish(owner, registration)
    }
    #expect(await refusal { try await caller.signIn(assertion) } == .invalidAuthenticatorResponse)
    #expect(try await world.lookup(owner).passkeys.count == 1)
  }

  @Test func `counts up to the largest are kept`() async throws {
    let world = World()
    let made = try await world.signUp()
    let caller = PasskeyCaller(world: world)
    var counting = VirtualAuthenticator.fake()
    counting.signCount = .max - 1
    try await caller.enroll(made.tokens, counting)
    counting.signCount = .max
    let last = try counting.assertion(for: try await caller.options())
    try await caller.signIn(last)
    for count: UInt32 in [.max, 0, 1] {
      counting.signCount = count
      let assertion = try counting.assertion(for: try await caller.options())
      #expect(await refusal { try await caller.signIn(assertion) } == .invalidAuthenticatorResponse, "\(count)")
    }
  }

  @Test(arguments: [28, 64, 65, 128])
  func `authenticators keep the account in 64 bytes`(length: Int) async throws {
    let world = World()
    let id = String(repeating: "u", count: length)
    _ = try await world.engine.administration.createUser(CreateUserRequest(localID: id), context: .owner)
    let token = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: id), context: .owner)
    let signedIn = try await world.engine.signInWithCustomToken(
      CustomTokenSignInRequest(token: token), context: world.context)
    let tokens = signedIn.tokens
    let caller = PasskeyCaller(world: world)
    let creation = try await caller.start(tokens)
    #expect((1...64).contains(creation.userID.count))
    #expect(length > 64 || creation.userID == Array(id.utf8))
    try await caller.finish(tokens, VirtualAuthenticator.fake().registration(for: creation))
    for handle in [creation.userID, Array(Base64.url.encode(creation.userID).utf8)] {
      let assertion = try VirtualAuthenticator.fake().assertion(for: try await caller.options(), userHandle: handle)
      #expect(try await caller.signIn(assertion).localID == id)
    }
  }

  // MARK: The store

  @Test func `of two accounts that add one passkey at once, over one store, one has it`() async throws {
    let world = World()
    let other = AuthEngine(projectID: "demo", options: world.options, crypto: world.crypto) { world.store }
    let engines = [world.engine, other]
    let (ada, eve) = (try await world.signUp(), try await world.signUp("eve@example.com"))
    for number in 1...16 as ClosedRange<UInt8> {
      let caller = PasskeyCaller(world: world)
      let started = [try await caller.start(ada.tokens), try await caller.start(eve.tokens)]
      let registrations = started.map { VirtualAuthenticator.fake(number).registration(for: $0) }
      let results = await atOnce(4) { index in
        let made = [ada, eve][index % 2]
        return try await engines[index / 2].finalizePasskeyEnrollment(
          FinalizePasskeyEnrollmentRequest(idToken: made.tokens.idToken, registration: registrations[index % 2]),
          context: world.context)
      }
      #expect(results.filter { (try? $0.get()) != nil }.count == 1)
    }
    let (first, second) = (try await world.lookup(ada.tokens), try await world.lookup(eve.tokens))
    #expect(first.passkeys.count + second.passkeys.count == 16)
    try await other.close()
  }

  @Test func `challenges that nobody answers are kept no longer than they are good for`() async throws {
    let world = World()
    let made = try await world.signUp()
    let caller = PasskeyCaller(world: world)
    let before = try await world.contents().count
    for _ in 0..<200 { _ = try await caller.options() }
    for _ in 0..<200 { _ = try await caller.start(made.tokens) }
    world.pass(seconds: 301)
    for _ in 0..<60 { _ = try await caller.options() }
    #expect(try await world.contents().count <= before + 2 * 60)
  }
}
