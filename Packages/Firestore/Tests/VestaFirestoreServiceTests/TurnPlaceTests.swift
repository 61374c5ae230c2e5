import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Where the turns of listeners run.
@Suite(.timeLimit(.minutes(5))) struct TurnPlaceTests {
  /// Notes for each question whether its turn runs on the thread.
  private struct Noting: FirestoreGuard {
    let thread: OneThread.Executor
    let isThere = Log<Bool>()

    nonisolated(nonsending) func mayGet(
      _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool {
      isThere.add(currentTaskExecutor as? OneThread.Executor === thread)
      return true
    }

    nonisolated(nonsending) func mayList(
      _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool { true }

    nonisolated(nonsending) func mayCommit(
      _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool { true }

    func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { ListenerRegistration {} }
  }

  private let thread = OneThread.Executor()

  private func engine(_ noting: Noting, callsInPlace: Int) -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.tuning = EngineTuning()
    options.tuning.listening.callsInPlace = callsInPlace
    return FirestoreEngine(store: ModelStore(), options: options, gatekeeper: noting)
  }

  /// Follows a document from a task on the thread, and changes it.
  private func places(_ noting: Noting, _ engine: FirestoreEngine) async throws -> [Bool] {
    try await Task(executorPreference: thread) {
      var follower = try await Follower(engine, as: CallContext())
      follower.add(Target(id: 2, .documents([name("rooms/a")])))
      try await follower.current([2])
      let time = try await engine.commit(update("rooms/a", ["n": .integer(1)])).commitTime
      try await follower.snapshot(from: time)
      follower.cancel()
      return noting.isThere.entries
    }.value
  }

  @Test func `the turn of a request runs where its call was opened, and that of a commit does not`() async throws {
    let noting = Noting(thread: thread)
    let engine = engine(noting, callsInPlace: 1)
    #expect(try await places(noting, engine) == [true, false])
    try await engine.close()
  }

  @Test func `with many calls all turns run elsewhere`() async throws {
    let noting = Noting(thread: thread)
    let engine = engine(noting, callsInPlace: 1)
    let other = try await Follower(engine, as: CallContext())
    #expect(try await places(noting, engine) == [false, false])
    other.cancel()
    try await engine.close()
  }
}
