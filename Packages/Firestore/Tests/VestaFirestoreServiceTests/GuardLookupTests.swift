import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Queries that are allowed because of documents which the guard looks up.
@Suite(.timeLimit(.minutes(5))) struct GuardLookupTests {
  private let ada = CallContext(caller: .user(VerifiedUser(uid: "ada")))
  private let target = Target(id: 2, .query(parent: name("rooms/x"), .all("messages")))

  /// An engine that allows everything to a member of the room, or to all while it is open.
  private func engine(_ store: any OrderedStore = ModelStore()) async throws -> FirestoreEngine {
    var options = FirestoreServiceOptions()
    options.takeTime()
    let gatekeeper = ManualFirestoreGuard(looksUp: [name("rooms/x/members/ada"), name("rooms/x")]) { question in
      question.found.first != .some(nil) || question.found.last??.fields["open"] == .boolean(true)
    }
    let engine = FirestoreEngine(store: store, options: options, gatekeeper: gatekeeper)
    try await engine.commit(
      update("rooms/x/members/ada", [:]), update("rooms/x/messages/1", ["text": .string("hello")]))
    return engine
  }

  private func end(of follower: inout Follower) async throws {
    let isThere = try await follower.read {
      if case .targetChange(let change) = $0 { change.kind == .remove } else { false }
    }
    #expect(isThere && follower.causes.map(\.code) == [.permissionDenied])
  }

  @Test func `a query ends when the document that allowed it is deleted, and sends nothing more`() async throws {
    let engine = try await engine()
    var follower = try await Follower(engine, as: ada)
    follower.add(target)
    try await follower.current([2])
    try await engine.commit(
      .delete(name("rooms/x/members/ada")), update("rooms/x/messages/2", ["text": .string("secret")]))
    try await end(of: &follower)
    #expect(follower.targets[2]?[name("rooms/x/messages/2")] == nil)
    // The call continues, and the target can be asked for again.
    try await engine.commit(update("rooms/x/members/ada", [:]))
    follower.add(target)
    try await follower.current([2])
    #expect(follower.targets[2]?.count == 2)
    follower.cancel()
    try await engine.close()
  }

  @Test func `a query goes on while another document allows it, and ends with that one`() async throws {
    let engine = try await engine()
    var follower = try await Follower(engine, as: ada)
    follower.add(target)
    try await follower.current([2])
    try await engine.commit(update("rooms/x", ["open": .boolean(true)]))
    try await engine.commit(.delete(name("rooms/x/members/ada")))
    let written = try await engine.commit(update("rooms/x/messages/2", [:]))
    try await follower.snapshot(from: written.commitTime)
    #expect(follower.targets[2]?.count == 2 && follower.causes.isEmpty)
    try await engine.commit(update("rooms/x", ["open": .boolean(false)]))
    try await end(of: &follower)
    follower.cancel()
    try await engine.close()
  }

  @Test func `a query ends when what allowed it changes while it starts`() async throws {
    let store = HeldStore()
    let engine = try await engine(store)
    var follower = try await Follower(engine, as: ada)
    store.hold(keysIn: DocumentDatabaseKeys(1).documents(of: ResourcePath(["rooms", "x", "messages"])))
    follower.add(target)
    await store.arrival()
    try await engine.commit(.delete(name("rooms/x/members/ada")))
    store.release()
    try await end(of: &follower)
    #expect(follower.targets[2]?.isEmpty != false)
    follower.cancel()
    try await engine.close()
  }

  @Test func `a query by name ends when its document changes so that it is denied`() async throws {
    let stored = name("rooms/x/messages/1")
    var options = FirestoreServiceOptions()
    options.takeTime()
    let gatekeeper = ManualFirestoreGuard(looksUp: [stored]) { question in
      question.found.last??.fields["open"] == .boolean(true)
    }
    let engine = FirestoreEngine(store: ModelStore(), options: options, gatekeeper: gatekeeper)
    try await engine.commit(update("rooms/x/messages/1", ["open": .boolean(true)]))
    var follower = try await Follower(engine, as: ada)
    var query = StructuredQuery.all("messages")
    query.filter = .field(path: "__name__", .equal, .reference(stored))
    follower.add(Target(id: 2, .query(parent: name("rooms/x"), query)))
    try await follower.current([2])
    let written = try await engine.commit(update("rooms/x/messages/1", ["open": .boolean(true), "n": .integer(1)]))
    try await follower.snapshot(from: written.commitTime)
    #expect(follower.targets[2]?[stored]?.fields["n"] == .integer(1) && follower.causes.isEmpty)
    try await engine.commit(update("rooms/x/messages/1", ["open": .boolean(false), "n": .integer(2)]))
    try await end(of: &follower)
    #expect(follower.targets[2]?[stored]?.fields["n"] != .integer(2))
    follower.cancel()
    try await engine.close()
  }

  @Test func `targets are found by what was looked up last, and not when they have ended`() {
    let keys = ["a", "b", "c"].map { PathKey(ResourcePath(["rooms", $0])) }
    let (first, second) = (LookupIndex.Place(call: 1, target: 2), LookupIndex.Place(call: 7, target: 2))
    var index = LookupIndex()
    index.set([keys[0], keys[1]], for: first)
    index.set([keys[1]], for: second)
    #expect(index.places(of: [keys[1]]) == [first, second] && index.places(of: keys) == [first, second])
    index.set([keys[2]], for: first)
    #expect(index.places(of: [keys[0], keys[1]]) == [second] && index.places(of: [keys[2]]) == [first])
    index.remove(first)
    index.set([], for: second)
    #expect(index.isEmpty && index.places(of: keys).isEmpty)
  }
}
