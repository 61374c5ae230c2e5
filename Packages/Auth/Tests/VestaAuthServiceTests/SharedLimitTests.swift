import Testing
import VestaAuthBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes

@testable import VestaAuthService

/// Limits that several processes keep together, and that a restart does not forget.
@Suite struct SharedLimitTests {
  private let store = SharedStore()

  private func world(at time: Int64 = World.start, _ configure: (inout AuthServiceOptions) -> Void = { _ in }) -> World
  {
    World(store: store, at: time) { options in
      options.codesPerRecipient = RateLimit(burst: 6, refillInterval: .seconds(60))
      options.digitGuesses = RateLimit(burst: 3, refillInterval: .seconds(600))
      options.addressGuesses = RateLimit(burst: 5, refillInterval: .seconds(6))
      configure(&options)
    }
  }

  private func send(_ world: World, to number: String = "+15550000001") async -> AuthServiceError.Code? {
    await refusal {
      try await world.engine.sendVerificationCode(
        SendVerificationCodeRequest(phoneNumber: number), context: world.context)
    }
  }

  @Test func `a phone gets as many messages from two processes as from one, also after a restart`() async throws {
    let worlds = [world(), world()]
    var sent = 0
    for round in 0..<20 where await send(worlds[round % 2]) == nil { sent += 1 }
    #expect(sent == 6)
    let third = world()
    #expect(await send(third) == .tooManyAttempts)
    #expect(await send(third, to: "+15550000002") == nil)
    third.pass(seconds: 60)
    #expect(await send(third) == nil)
    #expect(await send(third) == .tooManyAttempts)
  }

  @Test func `the digits of a phone are guessed as often in two processes as in one`() async throws {
    let worlds = [world(), world()]
    var compared = 0
    for _ in 0..<6 {
      let sent = try await worlds[0].engine.sendVerificationCode(
        SendVerificationCodeRequest(phoneNumber: "+15550000001"), context: worlds[0].context)
      let right = try worlds[0].textedCode(sent.sessionInfo)
      let wrong = right == "000000" ? "000001" : "000000"
      for guess in 0..<4 {
        let world = worlds[guess % 2]
        let proof = PhoneProof.code(sessionInfo: sent.sessionInfo, code: wrong)
        let code = await refusal {
          try await world.engine.signInWithPhoneNumber(PhoneSignInRequest(proof: proof), context: world.context)
        }
        if code == .invalidCode { compared += 1 }
      }
    }
    // The first guess at each of six codes, of which the first takes one from the limit as well, and the rest of it.
    #expect(compared <= 6 + 3)
    #expect(compared >= 6)
  }

  @Test func `an address guesses as many passwords in two processes as in one, and right ones do not count`()
    async throws
  {
    let worlds = [world(), world()]
    try await worlds[0].signUp()
    for _ in 0..<8 { _ = try await worlds[1].signIn(from: "10.0.0.1") }
    var refused: [AuthServiceError.Code?] = []
    for round in 0..<12 {
      refused.append(await refusal { try await worlds[round % 2].signIn("n\(round)@x.com", "guess", from: "10.0.0.1") })
    }
    #expect(refused.filter { $0 == .invalidLoginCredentials }.count == 5)
    #expect(refused.filter { $0 == .tooManyAttempts }.count == 7)
    #expect(
      await refusal { try await worlds[0].signIn("n@x.com", "guess", from: "10.0.0.2") } == .invalidLoginCredentials)
  }

  @Test func `the rows of limits go away when they are of no use`() async throws {
    let world = world()
    for number in 0..<2_000 {
      #expect(await send(world, to: "+1555\(1_000_000 + number)") == nil)
      world.pass(seconds: 20)
    }
    let rows = try await store.read { try await $0.entries(in: Keys.limits).count }
    #expect(rows < 400)
  }

  @Test func `a clock that is ahead in one process refuses no change after a sign-in at another`() async throws {
    let (first, second, late) = (world(), world(at: World.start + 590_000), world(at: World.start + 901_000))
    let made = try await first.signUp()
    let request = UpdateRequest(idToken: made.tokens.idToken, password: "another horse")
    #expect(await refusal { try await late.engine.update(request, context: late.context) } == .credentialTooOld)
    _ = try await second.engine.update(request, context: second.context)
  }
}
