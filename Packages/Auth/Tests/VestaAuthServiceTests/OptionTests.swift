import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

@testable import VestaAuthService

/// The promises of options and of the project's settings.
@Suite struct OptionTests {
  // MARK: Phones

  @Test func `a test number always has its digits, and gets no message`() async throws {
    let world = World { $0.testPhoneNumbers = ["+16505553434": "654321"] }
    for _ in 0..<3 {
      let sent = try await world.engine.sendVerificationCode(
        SendVerificationCodeRequest(phoneNumber: "+16505553434"), context: world.context)
      let proof = PhoneProof.code(sessionInfo: sent.sessionInfo, code: "654321")
      _ = try await world.engine.signInWithPhoneNumber(PhoneSignInRequest(proof: proof), context: world.context)
    }
    #expect(world.sender.recordedTexts.isEmpty)
    try await world.signInByPhone("+15550000001")
    #expect(world.sender.recordedTexts.count == 1)
  }

  private static let tenGuesses: @Sendable (inout AuthServiceOptions) -> Void = {
    $0.digitGuesses = RateLimit(burst: 10, refillInterval: .seconds(600))
  }

  /// Asks for a code and presents wrong digits five times.
  private func guess(_ number: String, _ world: World) async throws -> [AuthServiceError.Code?] {
    let session = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: number), context: world.context
    ).sessionInfo
    var refusals: [AuthServiceError.Code?] = []
    for _ in 0..<5 {
      let proof = PhoneProof.code(sessionInfo: session, code: "none")
      refusals.append(
        await refusal {
          try await world.engine.signInWithPhoneNumber(PhoneSignInRequest(proof: proof), context: world.context)
        })
    }
    return refusals
  }

  @Test func `the digits of a phone are guessed ten times over all of its codes, then once for each code`() async throws
  {
    let world = World(configure: Self.tenGuesses)
    var refusals: [AuthServiceError.Code?] = []
    for _ in 0..<2 { refusals += try await guess("+15550000001", world) }
    #expect(refusals == Array(repeating: .invalidCode, count: 10))
    for _ in 0..<20 {
      let more = try await guess("+15550000001", world)
      #expect(more == [.invalidCode] + Array(repeating: .tooManyAttempts, count: 4))
    }
    world.pass(seconds: 600)
    #expect(try await guess("+15550000001", world).count { $0 == .invalidCode } == 1)
    world.pass(seconds: 22 * 600)
    #expect(try await guess("+15550000001", world).count { $0 == .invalidCode } == 5)
  }

  @Test func `wrong digits of a stranger do not keep the owner of a phone out`() async throws {
    let world = World(configure: Self.tenGuesses)
    let uid = try await world.signInByPhone("+15550000001").uid
    for _ in 0..<20 {
      _ = try await guess("+15550000001", world)
      #expect(try await world.signInByPhone("+15550000001").uid == uid)
    }
    // The owner's right digits have given the stranger no guess more.
    #expect(try await guess("+15550000001", world).count { $0 == .invalidCode } == 1)
    try await world.signInByPhone("+15550000002")
  }

  @Test func `wrong digits at once are one guess of a code when its phone has none left`() async throws {
    let world = World(configure: Self.tenGuesses)
    for _ in 0..<2 { _ = try await guess("+15550000001", world) }
    let session = try await world.engine.sendVerificationCode(
      SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: world.context
    ).sessionInfo
    let proof = PhoneProof.code(sessionInfo: session, code: "none")
    let refusals = await atOnce(32) { _ in
      await refusal {
        try await world.engine.signInWithPhoneNumber(PhoneSignInRequest(proof: proof), context: world.context)
      }
    }.map(\.value)
    #expect(refusals.count { $0 == .invalidCode } == 1 && refusals.count { $0 == .tooManyAttempts } == 31)
  }

  // MARK: Second factors

  @Test func `where a second factor is mandatory, an account without one has its first session only`() async throws {
    let world = World {
      $0.initialConfig.signIn.mfaState = .mandatory
      $0.isDevelopment = true
    }
    let made = try await world.verifiedAccount()
    _ = try await world.lookup(made)
    #expect(await refusal { try await world.signIn() } == .operationNotAllowed)
    try await world.signInByPhone("+15550000001")
    #expect(await refusal { try await world.signInByPhone("+15550000001") } == .operationNotAllowed)
    let start = StartMfaEnrollmentRequest(idToken: made.idToken, factor: .phone(number: "+15550000002"))
    guard case .phone(let session) = try await world.engine.startMfaEnrollment(start, context: world.context) else {
      Issue.record("no phone")
      return
    }
    _ = try await world.engine.finalizeMfaEnrollment(
      FinalizeMfaEnrollmentRequest(
        idToken: made.idToken, proof: .phone(sessionInfo: session, code: try world.textedCode(session))),
      context: world.context)
    #expect(try await world.signIn().outcome.pending != nil)
  }

  // MARK: Tokens

  @Test func `an ID token lives ten minutes at least`() {
    var options = AuthServiceOptions()
    options.idTokenLifetime = .seconds(120)
    #expect(options.idTokenLifetime == .seconds(600))
    options.idTokenLifetime = .seconds(601)
    #expect(options.idTokenLifetime == .seconds(601))
  }

  @Test func `tokens of a tenant that is disabled are verified`() async throws {
    let world = World()
    let tenant = try await world.engine.administration.createTenant(
      CreateTenantRequest(displayName: "Corp"), context: .owner)
    let corp = CallContext(caller: .owner, tenantID: tenant.tenantID)
    let made = try await world.engine.signUp(SignUpRequest(email: "a@b.c", password: "secret1"), context: corp)
    var signIn = tenant.signIn
    signIn.isDisabled = true
    _ = try await world.engine.administration.updateTenant(
      UpdateTenantRequest(tenantID: tenant.tenantID, signIn: signIn), context: .owner)
    let request = VerifyTokenRequest(token: made.tokens.idToken, checksRevocation: true)
    #expect(try await world.engine.administration.verifyIDToken(request, context: .owner).localID == made.localID)
    let password = PasswordSignInRequest(email: "a@b.c", password: "secret1")
    #expect(
      await refusal { try await world.engine.signInWithPassword(password, context: corp) } == .projectDisabled)
  }

  // MARK: Growth that a stranger can cause

  @Test func `resets for addresses without account leave nothing behind`() async throws {
    let world = World()
    for index in 0..<200 { try await world.send(.passwordReset, to: "nobody\(index)@example.com") }
    #expect(try await world.contents().count <= 24)
  }

  @Test func `a hash that takes seconds to compare is not imported`() async throws {
    let world = World()
    func hash(_ cost: Int) -> [UInt8] {
      Array("$2b$\(cost)$\(String(repeating: "a", count: 22))\(String(repeating: "b", count: 31))".utf8)
    }
    let users = [
      ImportedUser(localID: "a", passwordHash: hash(12)), ImportedUser(localID: "b", passwordHash: hash(18)),
    ]
    let response = try await world.engine.administration.batchCreate(
      BatchCreateRequest(users: users, hash: .bcrypt), context: .owner)
    #expect(response.errors.map(\.index) == [1])
  }

  // MARK: Limits that are allowed

  @Test func `the longest phone number and the last capital are allowed`() throws {
    #expect(try Checks.phoneNumber("+123456789012345") == "+123456789012345")
    #expect(throws: AuthServiceError.self) { try Checks.phoneNumber("+1234567890123456") }
    var policy = PasswordPolicy()
    policy.isEnforced = true
    policy.requiresUppercase = true
    try policy.check("zzzzzzzZ")
    try policy.check("zzzzzzzA")
    #expect(throws: AuthServiceError.self) { try policy.check("zzzzzzz[") }
  }

  @Test func `the bytes of the tables never change`() {
    let bytes = Keys.Table.allCases.map(\.rawValue)
    #expect(
      bytes == [
        0x01, 0x02, 0x03, 0x04, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x20, 0x30, 0x31, 0x40,
      ])
  }

  @Test func `an address that the provider has not verified is not verified`() async throws {
    let world = World { $0.isDevelopment = true }
    let claims = #"{"sub":"1","email":"ada@example.com","email_verified":false}"#
    let credential = IdpCredential(providerID: "google.com", idToken: claims)
    let response = try await world.engine.signInWithIdp(
      IdpSignInRequest(credential: credential), context: world.context)
    let user = try await world.record(try #require(response.localID))
    #expect(user.email == "ada@example.com" && !user.emailVerified)
    let other = IdpCredential(
      providerID: "github.com", idToken: #"{"sub":"2","email":"ada@example.com","email_verified":false}"#)
    let conflict = try await world.engine.signInWithIdp(IdpSignInRequest(credential: other), context: world.context)
    #expect(conflict.needsConfirmation && conflict.localID == nil && conflict.outcome == nil)
  }
}
