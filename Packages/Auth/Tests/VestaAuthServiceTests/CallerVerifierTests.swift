import Testing
import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropContracts
import VestaTesting

@testable import VestaAuthService

/// The engine as the other services ask it who calls.
@Suite struct CallerVerifierTests {
  private func subject(cached: Bool) -> CallerVerifierSubject {
    let world = World()
    let verifier = AuthCallerVerifier(world.engine)
    return CallerVerifierSubject(
      cached ? CachedCallerVerifier(verifier, clock: world.options.clock) : verifier, project: "demo",
      issue: { uid, _ in
        let email = "\(uid)@example.com"
        let request = CreateUserRequest(localID: uid, email: email, password: "correct horse")
        _ = try? await world.engine.administration.createUser(request, context: .owner)
        return .idToken(try #require(try await world.signIn(email).outcome.tokens).idToken)
      },
      forge: { genuine, uid in Self.forge(genuine, uid) },
      advance: { world.pass(seconds: $0.components.seconds) })
  }

  private static func forge(_ genuine: Credential, _ uid: String) -> Credential {
    var parts = genuine.token.split(separator: ".").map(String.init)
    guard parts.count == 3, let bytes = try? Base64.url.decode(parts[1]) else { return .idToken("a.b.c") }
    let payload = String(decoding: bytes, as: UTF8.self).replacing("\"ada\"", with: "\"\(uid)\"")
    parts[1] = Base64.url.encode(Array(payload.utf8))
    return .idToken(parts.joined(separator: "."))
  }

  @Test(arguments: CallerVerifierContracts.all.map(\.name), [false, true])
  func `the engine keeps the promises of a verifier, with and without a cache`(name: String, cached: Bool) async throws
  {
    let contract = try #require(CallerVerifierContracts.all.first { $0.name == name })
    try await contract.verify(subject(cached: cached))
  }

  @Test func `a forged token differs from the genuine one in its user alone`() async throws {
    let subject = subject(cached: false)
    let genuine = try await subject.issue("ada", .seconds(3600))
    #expect(Self.forge(genuine, "root") != genuine && Self.forge(genuine, "ada") == genuine)
  }

  @Test func `a verified user has claims, project and times`() async throws {
    let world = World()
    let made = try await world.signUp()
    let verifier = AuthCallerVerifier(world.engine)
    let answer = try await verifier.verify(.idToken(made.tokens.idToken), project: nil)
    let user = try #require(CallContext(caller: answer.caller).user)
    #expect(user.uid == made.localID && user.project == "demo")
    #expect(user.claims["email"]?.string == "ada@example.com")
    #expect(user.authenticationTime == world.now * 1000)
    #expect(user.expiry == (world.now + 3_600_000) * 1000 && answer.expiry == user.expiry)
  }

  @Test func `an engine that is closed cannot decide, and refuses no token for good`() async throws {
    let world = World()
    let token = try await world.signUp().tokens.idToken
    let other = AuthEngine(projectID: "demo", options: world.options, crypto: world.crypto) { world.store }
    try await other.close()
    do {
      _ = try await AuthCallerVerifier(other).verify(.idToken(token), project: nil)
      Issue.record("a closed engine accepted a token")
    } catch {
      #expect(error.code == .unavailable)
    }
  }
}

extension AuthCallerVerifier {
  /// A verifier of an engine, without a cache.
  fileprivate init(_ engine: AuthEngine) {
    let own = WeakCore()
    own.set(engine.core)
    self.init(own)
  }
}
