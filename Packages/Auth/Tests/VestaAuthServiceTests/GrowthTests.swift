import Testing
import VestaAuthBackend

@testable import VestaAuthService

/// The number of rows under steady use is bounded.
@Suite struct GrowthTests {
  @Test func `the rows of a service that is used for weeks are as many as after days`() async throws {
    let world = World { $0.sessionLimit = 10 }
    try await world.signUp()
    var rows: [Int] = []
    for hour in 0..<(24 * 20) {
      try await world.send(.passwordReset)
      try await world.send(.passwordReset, to: "nobody\(hour)@example.com")
      try await world.send(.emailSignIn, to: "somebody@example.com")
      _ = try await world.engine.sendVerificationCode(
        SendVerificationCodeRequest(phoneNumber: "+15550100"), context: world.context)
      try await world.signIn()
      world.pass(seconds: 3600)
      if hour % 24 == 23 { rows.append(try await world.contents().count) }
    }
    // Codes are remembered for a day after their end, so all that is kept is there after a few days.
    let settled = try #require(rows.dropFirst(5).first)
    #expect(rows.dropFirst(5).allSatisfy { $0 <= settled + 8 }, "\(rows)")
    #expect(settled < 24 * 5 * 5 * 2)
  }

  @Test func `the limits on guesses remember a bounded number of names`() {
    var limiter = RateLimiter(RateLimit(burst: 5, refillInterval: .seconds(60)), capacity: 1_000)
    for number in 0..<50_000 {
      let isTaken = limiter.take("name \(number)", now: Int64(number))
      #expect(isTaken)
      #expect(limiter.count <= 1_000)
    }
  }
}
