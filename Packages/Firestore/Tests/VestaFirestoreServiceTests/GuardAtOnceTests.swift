import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Gets whose guard answers without waiting: of a document that is read, of one that the engine keeps, of one that
/// does not exist, and of several.
struct GuardAtOnceTests {
  /// A question that the engine asked.
  private struct Question: Sendable, Equatable {
    var waits = false
    var name: String
    var fields: MapValue?
    var uid: String?
    var time: Timestamp?
  }

  /// Answers at once as the test says, and otherwise with the state.
  private struct Guard: FirestoreGuard {
    /// The answer without waiting; `nil` where the other question has to be asked.
    let atOnce: Bool?
    /// The name of a document that has to exist; `nil` denies.
    let needed: String?
    let asked = Log<Question>()

    func mayGetAtOnce(
      _ name: String, _ document: Document?, at time: () -> Timestamp, context: CallContext
    ) -> Bool? {
      asked.add(Question(name: name, fields: document?.fields, uid: context.user?.uid, time: time()))
      return atOnce
    }

    nonisolated(nonsending) func mayGet(
      _ name: String, _ document: Document?, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool {
      asked.add(Question(waits: true, name: name, fields: document?.fields, uid: context.user?.uid, time: time))
      guard let needed else { return false }
      return try await state.document(needed) != nil
    }

    nonisolated(nonsending) func mayList(
      _ query: FirestoreGuardedQuery, state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool { false }

    nonisolated(nonsending) func mayCommit(
      _ writes: [FirestoreGuardedWrite], state: any FirestoreGuardState, at time: Timestamp, context: CallContext
    ) async throws -> Bool { false }

    func observe(_ changed: @escaping @Sendable () -> Void) -> ListenerRegistration { ListenerRegistration {} }
  }

  private let clock = ManualClock()
  private let ada = CallContext(caller: .user(VerifiedUser(uid: "ada")))

  private func engine(_ gatekeeper: Guard) async throws -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    let store = ModelStore(clock: clock.ofStore)
    let engine = FirestoreEngine(store: store, options: options, gatekeeper: gatekeeper)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]), update("rooms/b", ["n": .integer(2)]))
    return engine
  }

  private func get(_ paths: [String], _ engine: FirestoreEngine, _ context: CallContext) async throws -> [Document?] {
    let found = Locked<[Document?]>([])
    let request = BatchGetDocumentsRequest(database: database, documents: paths.map(name))
    try await engine.batchGet(request, context: context) { response in
      if case .found(let document)? = response.result { found.withLock { $0.append(document) } }
      if case .missing? = response.result { found.withLock { $0.append(nil) } }
    }
    return found.withLock { $0 }
  }

  @Test func `an answer at once is the answer, of a document that is read and of one that is kept`() async throws {
    let gatekeeper = Guard(atOnce: true, needed: nil)
    let engine = try await engine(gatekeeper)
    // The document is kept from some get on.
    for _ in 0..<4 {
      #expect(try await get(["rooms/a"], engine, ada).map { $0?.fields } == [["n": .integer(1)]])
    }
    #expect(try await get(["rooms/none"], engine, ada) == [nil])
    #expect(try await get(["rooms/a", "rooms/b"], engine, ada).count == 2)
    let time = Timestamp(microseconds: clock.now)
    func question(_ path: String, _ number: Int64?) -> Question {
      Question(name: name(path), fields: number.map { ["n": .integer($0)] }, uid: "ada", time: time)
    }
    let expected =
      Array(repeating: question("rooms/a", 1), count: 4)
      + [question("rooms/none", nil), question("rooms/a", 1), question("rooms/b", 2)]
    #expect(gatekeeper.asked.entries == expected)
    try await engine.close()
  }

  @Test func `a denial at once denies, and the other question is not asked`() async throws {
    let gatekeeper = Guard(atOnce: false, needed: name("rooms/b"))
    let engine = try await engine(gatekeeper)
    // An owner's gets make the engine keep the document.
    for _ in 0..<4 { _ = try await engine.get("rooms/a") }
    #expect(gatekeeper.asked.entries.isEmpty)
    for paths in [["rooms/a"], ["rooms/b"], ["rooms/none"], ["rooms/a", "rooms/b"]] {
      let error = await failure { _ = try await get(paths, engine, ada) }
      #expect(error?.code == .permissionDenied, "\(paths)")
    }
    #expect(!gatekeeper.asked.entries.contains { $0.waits } && gatekeeper.asked.entries.count >= 4)
    try await engine.close()
  }

  @Test func `without an answer at once the guard is asked with the state`() async throws {
    for (needed, isAllowed) in [(name("rooms/b"), true), (name("rooms/none"), false)] {
      let gatekeeper = Guard(atOnce: nil, needed: needed)
      let engine = try await engine(gatekeeper)
      for _ in 0..<4 { _ = try await engine.get("rooms/a") }
      for path in ["rooms/a", "rooms/none"] {
        let error = await failure { _ = try await get([path], engine, ada) }
        #expect(error?.code == (isAllowed ? nil : .permissionDenied))
        let last = gatekeeper.asked.entries.last
        #expect(last?.waits == true && last?.name == name(path) && last?.uid == "ada")
        #expect(last?.fields == (path == "rooms/a" ? ["n": .integer(1)] : nil))
      }
      try await engine.close()
    }
  }
}
