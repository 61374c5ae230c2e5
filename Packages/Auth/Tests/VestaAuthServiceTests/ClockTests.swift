import Testing
import VestaAuthBackend
import VestaCryptoInterop
import VestaServiceInterop

@testable import VestaAuthService

/// A clock that is set back by seconds or minutes refuses no caller.
@Suite struct ClockTests {
  @Test(arguments: [-1, -2, -60, -599] as [Int64])
  func `tokens of before a step back are accepted`(step: Int64) async throws {
    let world = World()
    let made = try await world.signUp()
    let custom = try await world.engine.administration.createCustomToken(
      CreateCustomTokenRequest(localID: "bob"), context: .owner)
    let cookie = try await world.engine.administration.createSessionCookie(
      CreateSessionCookieRequest(idToken: made.tokens.idToken), context: .owner)
    world.pass(seconds: step)
    #expect(try await world.lookup(made.tokens).localID == made.localID)
    _ = try await world.refresh(made.tokens)
    _ = try await world.engine.administration.verifySessionCookie(
      VerifyTokenRequest(token: cookie, checksRevocation: true), context: .owner)
    _ = try await world.engine.signInWithCustomToken(CustomTokenSignInRequest(token: custom), context: world.context)
  }

  @Test func `an expired token stays expired`() async throws {
    let world = World()
    let made = try await world.signUp()
    world.pass(seconds: 3600)
    #expect(await refusal { try await world.lookup(made.tokens) } == .tokenExpired)
  }

  @Test func `a change of the password and a step back leave new sessions usable and old ones over`() async throws {
    let world = World()
    let made = try await world.signUp()
    let changed = try await world.engine.update(
      UpdateRequest(idToken: made.tokens.idToken, password: "another horse"), context: world.context)
    world.pass(seconds: -60)
    #expect(try await world.lookup(try #require(changed.tokens)).localID == made.localID)
    let again = try #require(try await world.signIn("ada@example.com", "another horse").outcome.tokens)
    #expect(try await world.lookup(again).localID == made.localID)
    #expect(await refusal { try await world.lookup(made.tokens) } == .tokenExpired)
    #expect(await refusal { try await world.refresh(made.tokens) } == .tokenExpired)
  }

  @Test func `a step back makes no caller wait longer for the next try`() {
    var limiter = RateLimiter(RateLimit(burst: 2, refillInterval: .milliseconds(1000)))
    let first = limiter.take("a", now: 10_000_000)
    let second = limiter.take("a", now: 10_000_000)
    let third = limiter.take("a", now: 10_000_000)
    #expect(first && second && !third)
    let early = limiter.take("a", now: 5_000_000)
    let later = limiter.take("a", now: 5_001_000)
    #expect(!early && later)
  }
}
