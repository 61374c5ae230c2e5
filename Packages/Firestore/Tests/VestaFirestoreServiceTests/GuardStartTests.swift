import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreService

/// The questions about the first documents of targets by name.
@Suite(.timeLimit(.minutes(5))) struct GuardStartTests {
  private let ada = CallContext(caller: .user(VerifiedUser(uid: "ada")))

  private func engine(_ store: any OrderedStore, _ gatekeeper: (any FirestoreGuard)?) -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.takeTime()
    return FirestoreEngine(store: store, options: options, gatekeeper: gatekeeper)
  }

  /// The rows that the start of a target by name reads.
  private func rowsRead(for paths: [String], _ gatekeeper: (any FirestoreGuard)?) async throws -> Int {
    let store = CountingStore()
    let engine = engine(store, gatekeeper)
    for path in paths { try await engine.commit(update(path, ["owner": .string("ada")])) }
    let rows = try await store.rows {
      var follower = try await Follower(engine, as: ada)
      follower.add(Target(id: 2, .documents(paths.map(name) + [name("rooms/none")])))
      try await follower.current([2])
      #expect(follower.targets[2]?.count == paths.count)
      follower.cancel()
    }
    try await engine.close()
    return rows.rows.read
  }

  @Test func `a guard is asked about the documents that are sent, which are read once`() async throws {
    let paths = (0..<20).map { "rooms/\($0)" }
    let gatekeeper = ManualFirestoreGuard()
    let guarded = try await rowsRead(for: paths, gatekeeper)
    #expect(guarded < paths.count * 2, "\(guarded)")
    #expect(guarded <= (try await rowsRead(for: paths, nil)))
    let asked = gatekeeper.asked.entries.compactMap { question -> (String, Document?)? in
      if case .get(let name, let document) = question.subject { (name, document) } else { nil }
    }
    #expect(Set(asked.map(\.0)) == Set(paths.map(name) + [name("rooms/none")]))
    #expect(asked.count == paths.count + 1 && asked.count { $0.1?.fields == ["owner": .string("ada")] } == paths.count)
  }

  @Test func `a target that resumes is asked about documents that have not changed`() async throws {
    let gatekeeper = ManualFirestoreGuard()
    let engine = engine(HeldStore(), gatekeeper)
    for path in ["rooms/a", "rooms/b"] { try await engine.commit(update(path, ["n": .integer(1)])) }
    let subject = Target.Subject.documents([name("rooms/a"), name("rooms/b")])
    var first = try await Follower(engine, as: ada)
    first.add(Target(id: 2, subject))
    try await first.current([2])
    try await engine.commit(update("rooms/a", ["n": .integer(2)]))
    let before = gatekeeper.asked.entries.count

    var again = try await Follower(engine, as: ada)
    again.add(Target(id: 2, subject, resume: .token(first.token)))
    try await again.current([2])
    #expect(again.targets[2]?.keys.sorted() == [name("rooms/a")])
    let asked = gatekeeper.asked.entries.dropFirst(before).map(\.subject)
    for (path, number) in [("rooms/a", Int64(2)), ("rooms/b", 1)] {
      let isAsked = asked.contains {
        if case .get(name(path), let document?) = $0 { document.fields == ["n": .integer(number)] } else { false }
      }
      #expect(isAsked, "\(path)")
    }

    // A denied document that has not changed denies the target.
    gatekeeper.change { question in
      if case .get(name("rooms/b"), _) = question.subject { false } else { true }
    }
    var denied = try await Follower(engine, as: ada)
    denied.add(Target(id: 2, subject, resume: .token(first.token)))
    _ = try await denied.read { if case .targetChange(let change) = $0 { change.kind == .remove } else { false } }
    #expect(denied.causes.map(\.code) == [.permissionDenied] && denied.targets[2]?.isEmpty != false)
    for follower in [first, again, denied] { follower.cancel() }
    try await engine.close()
  }

  @Test func `a document that changes while a target starts is asked about as it is sent`() async throws {
    let store = HeldStore()
    let gatekeeper = ManualFirestoreGuard { question in
      if case .get(_, let document) = question.subject { document?.fields["open"] == .boolean(true) } else { true }
    }
    let engine = engine(store, gatekeeper)
    try await engine.commit(update("rooms/a", ["open": .boolean(true)]))
    var follower = try await Follower(engine, as: ada)
    store.hold(keysIn: DocumentDatabaseKeys(1).documents(of: ResourcePath(["rooms"])))
    follower.add(Target(id: 2, .documents([name("rooms/a")])))
    await store.arrival()
    try await engine.commit(update("rooms/a", ["open": .boolean(false)]))
    store.release()
    _ = try await follower.read { if case .targetChange(let change) = $0 { change.kind == .remove } else { false } }
    #expect(follower.causes.map(\.code) == [.permissionDenied])
    #expect(follower.targets[2]?.isEmpty != false)
    follower.cancel()
    try await engine.close()
  }
}
