import Testing
import VestaAuthBackend
import VestaBytes
import VestaConcurrency
import VestaServiceInterop

@testable import VestaAuthService

/// Functions that a test scripts.
private final class ScriptedFunctions: AuthBlockingFunctions {
  private struct State {
    var asked: [BlockingQuestion] = []
    var reply: @Sendable (BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer = { _ in BlockingAnswer() }
  }

  private let state = Locked(State())

  var asked: [BlockingQuestion] { state.withLock { $0.asked } }

  func replies(_ reply: @escaping @Sendable (BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer) {
    state.withLock { $0.reply = reply }
  }

  func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
    let reply = state.withLock { state in
      state.asked.append(question)
      return state.reply
    }
    return try await reply(question)
  }
}

@Suite struct BlockingTests {
  private static func world(_ functions: ScriptedFunctions) -> World {
    World {
      $0.blockingFunctions = functions
      $0.initialConfig.blockingFunctions = BlockingFunctionSettings(
        beforeCreate: "http://a/c", beforeSignIn: "http://a/s")
    }
  }

  @Test func `a sign-in is asked about once for each event, outside of its transaction`() async throws {
    let functions = ScriptedFunctions()
    let world = Self.world(functions)
    functions.replies { question throws(AuthServiceError) in
      // Another call of the store is served at the same time: no transaction waits for the function.
      _ = try await world.engine.administration.createUser(
        CreateUserRequest(displayName: question.event.rawValue), context: .owner)
      return BlockingAnswer(displayName: question.event.rawValue)
    }
    let made = try await world.signUp()
    #expect(functions.asked.map(\.event) == [.beforeCreate, .beforeSignIn])
    #expect(Set(functions.asked.map(\.user.localID)) == [made.localID])
    try await world.signIn()
    #expect(functions.asked.map(\.event) == [.beforeCreate, .beforeSignIn, .beforeSignIn])
  }

  @Test func `an account that changes while a function is asked is asked about again`() async throws {
    let functions = ScriptedFunctions()
    let world = Self.world(functions)
    let made = try await world.signUp()
    let rounds = Locked(0)
    functions.replies { _ throws(AuthServiceError) in
      let round = rounds.withLock { rounds in
        rounds += 1
        return rounds
      }
      if round <= 2 {
        let change = AdminUpdateRequest(localID: made.localID, displayName: "name \(round)")
        _ = try await world.engine.administration.updateUser(change, context: .owner)
      }
      return BlockingAnswer()
    }
    try await world.signIn()
    #expect(functions.asked.suffix(3).map(\.user.displayName) == [nil, "name 1", "name 2"])
    // One that never stops changing ends the sign-in.
    functions.replies { _ throws(AuthServiceError) in
      let round = rounds.withLock { rounds in
        rounds += 1
        return rounds
      }
      let change = AdminUpdateRequest(localID: made.localID, displayName: "name \(round)")
      _ = try await world.engine.administration.updateUser(change, context: .owner)
      return BlockingAnswer()
    }
    let before = functions.asked.count
    #expect(await refusal { try await world.signIn() } == .aborted)
    #expect(functions.asked.count - before == world.options.tuning.blockingRehearsals)
  }

  @Test func `a refusal leaves nothing, and claims that are reserved are refused`() async throws {
    let functions = ScriptedFunctions()
    let world = Self.world(functions)
    functions.replies { _ throws(AuthServiceError) in throw AuthServiceError(.blockingFunctionError, "((no))") }
    #expect(await refusal { try await world.signUp() } == .blockingFunctionError)
    functions.replies { question throws(AuthServiceError) in
      question.event == .beforeSignIn ? BlockingAnswer(sessionClaims: ["sub": "x"]) : BlockingAnswer()
    }
    #expect(await refusal { try await world.signUp() } == .forbiddenClaim)
    functions.replies { _ throws(AuthServiceError) in BlockingAnswer() }
    try await world.signUp()
  }
}
