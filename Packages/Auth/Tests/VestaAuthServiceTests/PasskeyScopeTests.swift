import Testing
import VestaAuthBackend
import VestaAuthBackendFakes
import VestaBytes
import VestaServiceInterop

@testable import VestaAuthService

/// Challenges and passkeys are good for one tenant, one account and one session, whatever happens at once.
@Suite struct PasskeyScopeTests {
  private func tokens(_ world: World, _ localID: String, in context: CallContext) async throws -> AuthTokens {
    let owner = CallContext(caller: .owner, tenantID: context.tenantID)
    let token = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: localID), context: owner)
    return try await world.engine.signInWithCustomToken(CustomTokenSignInRequest(token: token), context: context).tokens
  }

  @Test func `a challenge of one tenant is none in another, and neither is a passkey`() async throws {
    let world = World()
    var contexts = [CallContext()]
    for name in ["First", "Second"] {
      let tenant = try await world.engine.administration.createTenant(
        CreateTenantRequest(displayName: name), context: .owner)
      contexts.append(CallContext(tenantID: tenant.tenantID))
    }
    // The same id and the same passkey in each.
    let authenticator = VirtualAuthenticator.fake()
    for context in contexts {
      let tokens = try await tokens(world, "ada", in: context)
      let creation = try await world.engine.startPasskeyEnrollment(
        StartPasskeyEnrollmentRequest(idToken: tokens.idToken), context: context)
      for other in contexts where other.tenantID != context.tenantID {
        let stranger = try await self.tokens(world, "ada", in: other)
        let request = FinalizePasskeyEnrollmentRequest(
          idToken: stranger.idToken, registration: authenticator.registration(for: creation))
        #expect(
          await refusal { try await world.engine.finalizePasskeyEnrollment(request, context: other) }
            == .invalidAuthenticatorResponse)
      }
      _ = try await world.engine.finalizePasskeyEnrollment(
        FinalizePasskeyEnrollmentRequest(
          idToken: tokens.idToken, registration: authenticator.registration(for: creation)), context: context)
    }
    for context in contexts {
      let options = try await world.engine.startPasskeySignIn(context: context)
      let request = FinalizePasskeySignInRequest(assertion: try authenticator.assertion(for: options))
      for other in contexts where other.tenantID != context.tenantID {
        #expect(
          await refusal { try await world.engine.finalizePasskeySignIn(request, context: other) }
            == .invalidAuthenticatorResponse)
      }
      let signedIn = try await world.engine.finalizePasskeySignIn(request, context: context)
      let claims = try world.claims(try #require(signedIn.outcome.tokens))
      #expect(claims["firebase"]?.object?["tenant"]?.string == context.tenantID)
    }
  }

  @Test func `an account that is made again under the same id has no challenge of the earlier one`() async throws {
    let world = World()
    let caller = PasskeyCaller(world: world)
    let first = try await tokens(world, "ada", in: world.context)
    let registration = VirtualAuthenticator.fake().registration(for: try await caller.start(first))
    try await world.engine.administration.deleteUser(localID: "ada", context: .owner)
    let second = try await tokens(world, "ada", in: world.context)
    #expect(await refusal { try await caller.finish(first, registration) } == .tokenExpired)
    #expect(await refusal { try await caller.finish(second, registration) } == .invalidAuthenticatorResponse)
  }

  @Test func `a password that is changed between start and end of an enrolment ends it`() async throws {
    let world = World()
    let caller = PasskeyCaller(world: world)
    let thief = try await world.signUp()
    let registration = VirtualAuthenticator.fake().registration(for: try await caller.start(thief.tokens))
    let update = UpdateRequest(idToken: thief.tokens.idToken, password: "another horse")
    let owner = try #require(try await world.engine.update(update, context: world.context).tokens)
    #expect(await refusal { try await caller.finish(thief.tokens, registration) } == .tokenExpired)
    #expect(await refusal { try await caller.finish(owner, registration) } == .invalidAuthenticatorResponse)
  }

  @Test func `of 32 copies of a passkey that sign at once with one count, one signs in`() async throws {
    let world = World()
    let made = try await world.signUp()
    let caller = PasskeyCaller(world: world)
    var counting = VirtualAuthenticator.fake()
    counting.signCount = 5
    try await caller.enroll(made.tokens, counting)
    counting.signCount = 6
    var assertions: [FinalizePasskeySignInRequest.Assertion] = []
    for _ in 0..<32 { assertions.append(try counting.assertion(for: try await caller.options())) }
    let copies = assertions
    let results = await atOnce(32) { try await caller.signIn(copies[$0]) }
    #expect(results.filter { $0.value != nil }.count == 1)
  }

  @Test func `answers of any form are refused by their name`() async throws {
    let world = World()
    let made = try await world.signUp()
    let caller = PasskeyCaller(world: world)
    try await caller.enroll(made.tokens)
    let good = try VirtualAuthenticator.fake().assertion(for: try await caller.options())
    let deep = [UInt8](repeating: UInt8(ascii: "["), count: 200_000)
    let forms: [[UInt8]] = [
      [], [0], deep, Array("null".utf8), Array("{}".utf8), Array(#"{"type":1}"#.utf8), Array(#"{"a":"#.utf8) + deep,
      Array(#"{"type":"webauthn.get","challenge":null,"origin":[]}"#.utf8), [0xEF, 0xBB, 0xBF, 0x7B, 0x7D],
      [UInt8](repeating: 0xFF, count: 100_000), [UInt8](repeating: 0x9F, count: 100_000),
    ]
    for form in forms {
      for change in [
        { $0.clientData = form }, { $0.authenticatorData = form }, { $0.signature = form },
        { $0.authenticatorData = ($0.authenticatorData ?? []).prefix(32) + [0xC1] + form },
      ] as [(inout FinalizePasskeySignInRequest.Assertion) -> Void] {
        var changed = good
        change(&changed)
        let assertion = changed
        #expect(await refusal { try await caller.signIn(assertion) } == .invalidAuthenticatorResponse)
      }
      var registration = VirtualAuthenticator.fake(2).registration(for: try await caller.start(made.tokens))
      registration.attestationObject = form
      let wrong = registration
      #expect(await refusal { try await caller.finish(made.tokens, wrong) } == .invalidAuthenticatorResponse)
    }
    #expect(try await caller.signIn(good).localID == made.localID)
  }
}
