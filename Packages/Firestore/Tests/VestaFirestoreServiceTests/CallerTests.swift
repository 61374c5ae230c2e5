import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Who calls: the engine verifies every credential before it looks at a call.
@Suite struct CallerTests {
  @Test(arguments: FirestoreContracts.callers)
  func `the engine keeps the promises about callers`(_ contract: Contract<FirestoreSubject>) async throws {
    try await contract.verify(FirestoreSubject(FirestoreEngine(store: ModelStore())))
  }

  @Test(arguments: OneOtherCall.Kind.allCases)
  func `an engine that takes any credential in one call breaks a promise`(_ kind: OneOtherCall.Kind) async throws {
    let engine = FirestoreEngine(store: ModelStore())
    // Two of the calls are the owner's alone, and refuse others for that reason.
    let subject = FirestoreSubject(OneOtherCall(base: engine, kind: kind, caller: .nobody))
    for contract in FirestoreContracts.callers {
      await #expect(throws: (any Error).self) { try await contract.verify(subject) }
    }
  }

  @Test func `a verified user is served in calls and streams, and an expired token is not`() async throws {
    let clock = ManualClock()
    let verifier = FakeCallerVerifier(clock: clock.service)
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    let engine = FirestoreEngine(
      store: ModelStore(clock: clock.ofStore), options: options, callers: CallerCheck(callers: verifier))
    let ada = CallContext(caller: .credential(verifier.issue("ada", lifetime: .seconds(60))))
    let commit = CommitRequest(database: database, writes: [update("rooms/a", ["n": .integer(1)])])
    _ = try await engine.commit(commit, context: ada)
    let call = try await engine.listen(database: database, context: ada)
    call.send(.addTarget(Target(id: 1, .documents([name("rooms/a")]))))
    var documents = 0
    for try await batch in call.responses where documents == 0 {
      for case .documentChange in batch { documents += 1 }
      if documents > 0 { call.cancel() }
    }
    #expect(documents == 1)
    clock.advance(seconds: 61)
    #expect(await failure { _ = try await engine.commit(commit, context: ada) }?.code == .unauthenticated)
    #expect(await failure { _ = try await engine.listen(database: database, context: ada) }?.code == .unauthenticated)
    try await engine.close()
  }

  @Test func `what fails below the engine has the code of the table for all products`() async throws {
    let codes: [(StoreError.Code, ServiceCode)] = [
      (.diskFull, .resourceExhausted), (.inputOutput, .unavailable), (.unknownOutcome, .deadlineExceeded),
      (.readOnly, .internal), (.futureVersion, .invalidArgument), (.conflict, .aborted),
    ]
    for (code, expected) in codes {
      let engine = FirestoreEngine(options: FirestoreServiceOptions(), callers: CallerCheck()) {
        throw StoreError(code, operation: "open", message: "It is a test.")
      }
      #expect(await failure { _ = try await engine.get("rooms/a") }?.code == expected, "\(code)")
    }
  }
}
