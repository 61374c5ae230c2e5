import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

struct ListenStartTests {
  private let store = HeldStore()
  private let engine: FirestoreEngine

  init() { engine = makeEngine(on: store) }

  private func target(_ id: Int32, _ query: StructuredQuery, resume: Target.Resume? = nil) -> Target {
    Target(id: id, .query(parent: root, query), resume: resume)
  }

  private func hold(_ collection: String) {
    store.hold(DocumentDatabaseKeys(1).documents(of: ResourcePath([collection])))
  }

  @Test func `a long beginning holds no other target up`() async throws {
    for id in ["a", "b", "c"] { try await engine.commit(update("slow/\(id)", ["n": .integer(1)])) }
    var slow = try await Follower(engine)
    var quick = try await Follower(engine)
    hold("slow")
    slow.add(target(2, .all("slow")))
    await store.arrival()

    slow.add(target(4, .all("rooms")))
    quick.add(target(2, .all("rooms")))
    try await slow.current([4])
    try await quick.current([2])
    let commit = try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    try await slow.snapshot(from: commit.commitTime)
    try await quick.snapshot(from: commit.commitTime)
    #expect(slow.targets[2] == nil)
    #expect(slow.targets[4]?.count == 1)

    try await engine.commit(update("slow/a", ["n": .integer(2)]), update("slow/d", ["n": .integer(2)]))
    let last = try await engine.commit(.delete(name("slow/b")), update("slow/a", ["n": .integer(3)]))
    store.release()
    try await slow.current([2])
    #expect(slow.readTime >= last.commitTime)
    let found = try await engine.query(.all("slow"))
    #expect(slow.targets[2] == Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0) }))
    #expect(slow.messages == 1 + 3)
  }

  @Test func `a limited query is asked again only when one leaves it`() async throws {
    for id in ["b", "c", "d"] { try await engine.commit(update("rooms/\(id)", ["n": .integer(1)])) }
    var query = StructuredQuery.all("rooms")
    query.limit = 2
    var follower = try await Follower(engine)
    follower.add(target(2, query))
    try await follower.current([2])

    hold("rooms")
    try await engine.commit(update("rooms/z", [:]), .delete(name("rooms/d")))
    try await engine.commit(update("rooms/b", ["n": .integer(2)]))
    let commit = try await engine.commit(update("rooms/a", [:]))
    try await follower.snapshot(from: commit.commitTime)
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/a"), name("rooms/b")])
    #expect(follower.targets[2]?[name("rooms/b")]?.fields == ["n": .integer(2)])

    let last = try await engine.commit(.delete(name("rooms/a")))
    await store.arrival()
    store.release()
    try await follower.snapshot(from: last.commitTime)
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/b"), name("rooms/c")])
  }

  @Test func `a query that can no longer be answered ends its target alone`() async throws {
    try await engine.commit(update("rooms/a", [:]), update("halls/a", [:]))
    var query = StructuredQuery.all("rooms")
    query.limit = 1
    var follower = try await Follower(engine)
    follower.add(target(2, query))
    follower.add(target(4, .all("halls")))
    try await follower.current([2, 4])
    // A row that no engine wrote, where the next document would be.
    _ = try await store.write {
      try await $0.put([1], for: DocumentDatabaseKeys(1).document(PathKey(ResourcePath(["rooms", "b"]))))
    }
    try await engine.commit(.delete(name("rooms/a")))
    let isRemoved = try await follower.read { response in
      if case .targetChange(let change) = response { return change.kind == .remove && change.targetIDs == [2] }
      return false
    }
    #expect(isRemoved)
    #expect(follower.causes.map(\.code) == [.dataLoss])
    let commit = try await engine.commit(update("halls/b", [:]))
    try await follower.snapshot(from: commit.commitTime)
    #expect(follower.targets[4]?.count == 2)
  }

  @Test func `a target that is removed while it begins can be added again`() async throws {
    try await engine.commit(update("slow/a", [:]))
    var follower = try await Follower(engine)
    hold("slow")
    follower.add(target(2, .all("slow")))
    await store.arrival()
    follower.remove(2)
    follower.add(target(2, .all("rooms")))
    try await follower.current([2])
    store.release()
    let commit = try await engine.commit(update("rooms/a", [:]))
    try await follower.snapshot(from: commit.commitTime)
    #expect(follower.changes.prefix(3) == [.add, .remove, .add])
    #expect(follower.changes.count { $0 == .current } == 1)
    #expect(follower.targets[2]?.keys.sorted() == [name("rooms/a")])
  }

  @Test func `one start serves all who ask for the same`() async throws {
    for id in ["a", "b"] { try await engine.commit(update("slow/\(id)", [:])) }
    hold("slow")
    var followers: [Follower] = []
    for number in 0..<20 {
      let follower = try await Follower(engine)
      follower.add(target(Int32(number + 1), .all("slow")))
      followers.append(follower)
    }
    await store.arrival()
    // The hub has taken all requests when it answers this one.
    var last = try await Follower(engine)
    last.add(target(2, .all("rooms")))
    try await last.current([2])
    #expect(store.waitingCount == 1)
    store.release()
    for index in followers.indices {
      try await followers[index].current([Int32(index + 1)])
      #expect(followers[index].targets[Int32(index + 1)]?.count == 2)
    }
  }

  /// Beginnings that last while others write: nothing is lost, and nothing is sent twice.
  @Test(arguments: [UInt64(51), 52, 53, 54])
  func `who begins while others write misses nothing`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    for _ in 0..<20 { try await engine.commit(data.write()) }
    for _ in 0..<25 {
      var query = data.query()
      query.select = nil
      guard (try? await engine.query(query)) != nil else { continue }
      try await begin(query, &data, seed)
    }
  }

  private func begin(_ query: StructuredQuery, _ data: inout SplitMix, _ seed: UInt64) async throws {
    var first = try await Follower(engine)
    first.add(target(2, query))
    try await first.current([2])
    for _ in 0..<data.pick([0, 1, 4]) { try await engine.commit(data.write(), data.write()) }

    let keys = DocumentDatabaseKeys(1)
    if data.pick([true, false]) {
      store.hold(.all)
    } else {
      // The hub continues with the changes that it reads from the log.
      store.hold(KeyRange(prefix: keys.documents), KeyRange(prefix: keys.entries))
    }
    var later = try await Follower(engine)
    let resumes = data.pick([true, false])
    if resumes { later.adopt(2, from: first) }
    later.add(target(2, query, resume: resumes ? .token(first.token) : nil))
    let writers = (0..<2).map { _ in
      var own = SplitMix(seed: data.next())
      return Task { [engine] in for _ in 0..<4 { try await engine.commit(own.write(), own.write()) } }
    }
    if data.pick([true, false]) { for writer in writers { try await writer.value } }
    store.release()
    try await later.current([2])
    for writer in writers { try await writer.value }
    let marker = Target(id: 9, .documents([name("rooms/none")]), once: true)
    later.add(marker)
    try await later.current([9])
    let found = try await engine.query(query, .readTime(later.readTime))
    let expected = Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0) })
    #expect(later.targets[2] ?? [:] == expected, "seed \(seed): \(query)")
    #expect(later.repetitions == 0, "seed \(seed): \(query)")
    first.cancel()
    later.cancel()
  }
}
