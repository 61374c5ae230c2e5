import Testing
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaBytes
import VestaServiceInterop
import VestaTesting

@testable import VestaAuthService

/// The contract of a service that asks blocking functions: the engine keeps it, and each wrong one breaks its promise
/// and no other.
@Suite(.timeLimit(.minutes(5))) struct BlockingEngineContractTests {
  /// A flaw for each promise, in their order, after none.
  fileprivate enum Flaw: CaseIterable {
    case none, asksTwice, ignoresRefusals, losesNames, asksForOwners, dropsReservedClaims
  }

  private static func subject(_ flaw: Flaw = .none) async throws -> BlockingEngineSubject {
    var subject = try await BlockingEngineSubject { functions in
      let world = World {
        $0.blockingFunctions = FlawedFunctions(inner: functions, flaw: flaw)
        $0.initialConfig.blockingFunctions = BlockingFunctionSettings(
          beforeCreate: "http://a/c", beforeSignIn: "http://a/s")
      }
      return (world.engine, world.engine.administration)
    }
    if flaw == .asksForOwners {
      let (create, script) = (subject.createUser, subject.script)
      subject.createUser = { request in
        let user = AuthUser(localID: "new", email: request.email)
        let question = BlockingQuestion(
          event: .beforeCreate, url: "http://a/c", project: "demo", user: user, signInMethod: "password")
        _ = try await script.answer(to: question)
        return try await create(request)
      }
    }
    return subject
  }

  @Test(arguments: BlockingEngineContracts.all)
  func `the engine keeps every promise`(_ contract: Contract<BlockingEngineSubject>) async throws {
    try await contract.verify(try await Self.subject())
  }

  @Test(arguments: 0..<5) func `a wrong service breaks exactly its promise`(_ index: Int) async {
    let outcomes = await BlockingEngineContracts.all.run { try await Self.subject(Flaw.allCases[index + 1]) }
    let broken = outcomes.filter { !$0.isKept }.map(\.name)
    #expect(broken == [BlockingEngineContracts.all[index].name], "\(outcomes.filter { !$0.isKept })")
  }

  @Test func `every promise has a wrong service`() {
    #expect(Flaw.allCases.count == BlockingEngineContracts.all.count + 1)
  }

  private struct FlawedFunctions: AuthBlockingFunctions {
    let inner: any AuthBlockingFunctions
    let flaw: Flaw

    func answer(to question: BlockingQuestion) async throws(AuthServiceError) -> BlockingAnswer {
      if flaw == .asksTwice { _ = try await inner.answer(to: question) }
      var answer: BlockingAnswer
      do {
        answer = try await inner.answer(to: question)
      } catch {
        guard flaw == .ignoresRefusals else { throw error }
        return BlockingAnswer()
      }
      if flaw == .losesNames { answer.displayName = nil }
      if flaw == .dropsReservedClaims, answer.customClaims?["sub"] != nil { answer.customClaims = nil }
      return answer
    }
  }
}
