import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthRemote
import VestaConcurrency
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthService

/// The same service over connections that are delayed, arrive in pieces, and are cut.
@Suite(.timeLimit(.minutes(10))) struct RemoteLossTests {
  private typealias Script = ScriptedNetwork.Script

  private func serve(
    seed: UInt64 = 1, script: @escaping @Sendable (Int) -> Script
  ) async throws -> Served {
    try await Served { ScriptedNetwork(to: $0, seed: seed, script: script) }
  }

  @Test(arguments: AuthContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<AuthSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try await serve(seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      return Script(fromClient: Served.conditions(&random), fromServer: Served.conditions(&random))
    }
    do {
      try await contract.verify(served.subject)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.world.engine.close()
  }

  @Test func `a sign-up that is cut anywhere has happened once or not at all, and says so`() async throws {
    let cuts = (0...30).map { $0 * 17 } + [560, 700, 1_000, 1_500]
    var outcomes: Set<String> = []
    for isOfServer in [false, true] {
      for cut in cuts {
        let served = try await serve { number in
          guard number == 0 else { return Script() }
          let lossy = ScriptedPipe.Conditions(largestPiece: 30, cutAfter: cut)
          return isOfServer ? Script(fromServer: lossy) : Script(fromClient: lossy)
        }
        let request = SignUpRequest(email: "ada@example.com", password: "correct horse")
        let outcome = await refusal { try await served.remote.signUp(request, context: CallContext()) }
        let count = try await served.world.engine.administration.queryUsers(QueryUsersRequest(), context: .owner).count
        outcomes.insert(outcome?.rawValue ?? "made")
        switch outcome?.rawValue {
        case nil: #expect(count == 1, "cut after \(cut)")
        case "DEADLINE_EXCEEDED"?: #expect(count <= 1, "cut after \(cut)")
        case let code?: Issue.record("cut after \(cut), \(isOfServer): \(code)")
        }
        try await served.world.engine.close()
      }
    }
    #expect(outcomes == ["made", "DEADLINE_EXCEEDED"])
  }

  @Test func `what is repeated after lost answers has its effect once`() async throws {
    // The answer of every second exchange is lost after the service has acted.
    let served = try await serve { number in Script(fromServer: number % 2 == 0 ? .init(cutAfter: 0) : .init()) }
    let made = try await served.world.signUp()
    let caller = BackendCaller(retry: Retry(initial: .zero, cap: .zero), isRetried: { $0 == .unavailable })
    for number in 0..<10 {
      let request = RefreshRequest(refreshToken: made.tokens.refreshToken)
      #expect(try await caller.call { try await served.remote.refresh(request, context: $0) }.userID == made.localID)
      let update = UpdateRequest(idToken: made.tokens.idToken, displayName: "Ada \(number)")
      _ = try await caller.call { try await served.remote.update(update, context: $0) }
    }
    #expect(try await served.world.lookup(made.tokens).displayName == "Ada 9")
    // A code is sent by one message, and its sender is told that it may have been.
    let code = SendOobCodeRequest(requestType: .passwordReset, email: "ada@example.com")
    let outcome = await refusal { try await caller.call { try await served.remote.sendOobCode(code, context: $0) } }
    #expect(outcome == .init("DEADLINE_EXCEEDED"))
    #expect(served.world.sender.recordedEmails.count { $0.requestType == .passwordReset } == 1)
  }
}
