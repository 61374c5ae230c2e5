import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreBackendFakes
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// The engine with a guard.
@Suite(.timeLimit(.minutes(15))) struct GuardTests {
  private static func engine(_ gatekeeper: any FirestoreGuard) -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.takeTime()
    return FirestoreEngine(store: ModelStore(), options: options, gatekeeper: gatekeeper)
  }

  @Test(arguments: FirestoreGuardContracts.all)
  func `the engine honours`(_ contract: Contract<GuardedFirestoreSubject>) async throws {
    try await contract.verify(GuardedFirestoreSubject { Self.engine($0) })
  }

  /// Omissions of an engine: a whole kind of calls, or a part of its questions.
  enum Lapse: Sendable, CustomTestStringConvertible {
    case call(OneOtherCall.Kind)
    case get, list, commit, before, precondition, time, caller, claims, rules, change

    static let all: [Lapse] =
      [.batchGet, .listDocuments, .runQuery, .runAggregation, .commit, .batchWrite, .listen, .write].map { .call($0) }
      + [.get, .list, .commit, .before, .precondition, .time, .caller, .claims, .rules, .change]

    var testDescription: String { "\(self)" }
  }

  /// Lets some questions pass without asking, or does not pass on what is asked about.
  private struct Forgetful: FirestoreGuard {
    let inner: any FirestoreGuard
    let lapse: Lapse
    let seen = Locked<Set<String>>([])

    nonisolated(nonsending) func mayGet(
      _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool {
      if case .get = lapse { return true }
      let isNew = seen.withLock { $0.insert(name).inserted }
      if case .change = lapse, !isNew { return true }
      return try await inner.mayGet(name, document, state: state, at: self.time(time), context: caller(context))
    }

    nonisolated(nonsending) func mayList(
      _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool {
      if case .list = lapse { return true }
      return try await inner.mayList(query, state: state, at: self.time(time), context: caller(context))
    }

    nonisolated(nonsending) func mayCommit(
      _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool {
      if case .commit = lapse { return true }
      var writes = writes
      if case .before = lapse { for index in writes.indices { writes[index].before = nil } }
      if case .precondition = lapse { for index in writes.indices { writes[index].precondition = nil } }
      return try await inner.mayCommit(writes, state: state, at: self.time(time), context: caller(context))
    }

    func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
      if case .rules = lapse { return ListenerRegistration {} }
      return inner.observe(changed)
    }

    private func time(_ time: Timestamp) -> Timestamp {
      if case .time = lapse { Timestamp(seconds: 0) } else { time }
    }

    private func caller(_ context: CallContext) -> CallContext {
      switch lapse {
      case .caller: CallContext()
      case .claims: CallContext(caller: context.user.map { .user(VerifiedUser(uid: $0.uid)) } ?? .nobody)
      default: context
      }
    }
  }

  @Test(arguments: Lapse.all) func `an engine that forgets a path breaks a contract`(_ lapse: Lapse) async {
    let subject = GuardedFirestoreSubject(patience: .milliseconds(500)) { gatekeeper in
      if case .call(let kind) = lapse {
        return OneOtherCall(base: Self.engine(gatekeeper), kind: kind, caller: .owner)
      }
      return Self.engine(Forgetful(inner: gatekeeper, lapse: lapse))
    }
    var isFound = false
    for contract in FirestoreGuardContracts.all where !isFound {
      do { try await contract.verify(subject) } catch { isFound = true }
    }
    #expect(isFound, "an engine that forgets \(lapse) keeps all contracts")
  }

  /// A commit that runs again asks again, about the documents as they are then.
  @Test func `a commit is decided by the documents of its transaction`() async throws {
    let gatekeeper = ManualFirestoreGuard { question in
      guard case .commit(let writes) = question.subject else { return true }
      return writes.allSatisfy { $0.before?.fields["locked"] != .boolean(true) }
    }
    let engine = Self.engine(gatekeeper)
    let eve = CallContext(caller: .user(VerifiedUser(uid: "eve")))
    // Many writers of one document, of whom one locks it: nothing is written after that.
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        group.addTask {
          let fields: MapValue = ["n": .integer(Int64(number)), "locked": .boolean(number == 20)]
          let request = CommitRequest(database: database, writes: [update("rooms/a", fields)])
          do {
            _ = try await engine.commit(request, context: eve)
          } catch let error as FirestoreServiceError {
            #expect(error.code == .permissionDenied)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(20))
    try await engine.close()
  }

  @Test func `a document beyond the limits is refused to those alone who may write it`() async throws {
    let engine = Self.engine(ManualFirestoreGuard { $0.uid == "ada" })
    let text = String(repeating: "x", count: 600_000)
    try await engine.commit(update("rooms/a", ["a": .string(text)]))
    let merge = Write.update(
      Document(name: name("rooms/a"), fields: ["b": .string(text)]), mask: DocumentMask(fieldPaths: ["b"]))
    for (uid, code) in [("eve", ServiceCode.permissionDenied), ("ada", .invalidArgument)] {
      let context = CallContext(caller: .user(VerifiedUser(uid: uid)))
      let error = await failure {
        _ = try await engine.commit(CommitRequest(database: database, writes: [merge]), context: context)
      }
      #expect(error?.code == code)
    }
    try await engine.close()
  }

  @Test func `a guard is observed while there are listeners, and no longer`() async throws {
    let observers = Locked(0)
    struct Counting: FirestoreGuard {
      let observers: Locked<Int>
      let inner = ManualFirestoreGuard()
      nonisolated(nonsending) func mayGet(
        _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp,
        context: CallContext
      ) async throws -> Bool { true }
      nonisolated(nonsending) func mayList(
        _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
      ) async throws -> Bool { true }
      nonisolated(nonsending) func mayCommit(
        _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
      ) async throws -> Bool { true }
      func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration {
        observers.withLock { $0 += 1 }
        return ListenerRegistration { [observers] in observers.withLock { $0 -= 1 } }
      }
    }
    let engine = Self.engine(Counting(observers: observers))
    for _ in 0..<3 {
      let call = try await engine.listen(database: database, context: CallContext())
      #expect(observers.withLock { $0 } == 1)
      call.cancel()
      while !(try await engine.engine(database).hub.isIdle) { await Task.yield() }
      #expect(observers.withLock { $0 } == 0)
    }
    try await engine.close()
  }
}
