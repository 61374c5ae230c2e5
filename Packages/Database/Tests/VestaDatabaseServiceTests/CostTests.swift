import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// The costs of one client's queries for the others.
@Suite(.timeLimit(.minutes(20)))
struct CostTests {
  private let store = HookedStore()
  private let reads: StoreReads
  private let engine: DatabaseEngine

  init() { (reads, engine) = (StoreReads(of: store), DatabaseEngine(store: store)) }

  private func cost(_ client: TestClient, _ request: DatabaseRequest) async -> Int {
    await engine.settle()
    let before = store.entries
    _ = await client.call(request)
    await engine.settle()
    return store.entries - before
  }

  @Test(arguments: [DatabaseIndex.key, .priority, .value, .child("n")])
  func `a write deep in a large child outside of a query does not read the child`(index: DatabaseIndex) async {
    let client = TestClient(engine)
    let leaves = (0..<2000).map { (DatabaseKey("x\($0)"), DatabaseNode(.int(1))) }
    let large = DatabaseNode(children: leaves + [("n", DatabaseNode(.int(9)))], priority: .int(9))
    let small = DatabaseNode(children: [("n", DatabaseNode(.int(1)))], priority: .int(1))
    for key in ["a", "b"] { _ = await client.put(DatabasePath("all/\(key)"), small) }
    _ = await client.put("all/z", large)
    let spec = DatabaseQuerySpec(index: index, limit: .init(2, .first))
    await client.listen("all", spec, tag: 1)
    #expect(await cost(client, .put("all/z/x7", DatabaseNode(.int(2)), hash: nil)) < 60)
    // Children that enter the window are read, of course.
    let isIn = await client.call(.put("all/a", .empty, hash: nil)).status == .ok
    await engine.settle()
    #expect(isIn && client.node(tag: 1).childCount == 2)
    #expect(client.node(tag: 1)["z" as DatabaseKey]["x7" as DatabaseKey].leaf == .int(2))
  }

  @Test func `a query without an index that has to be read again holds up its own client only`() async {
    let slow = TestClient(engine), other = TestClient(engine)
    for number in 0..<10 {
      _ = await slow.put(DatabasePath("all/k\(number)/n"), DatabaseNode(.int(Int64(number))))
    }
    let spec = DatabaseQuerySpec(index: .child("n"), limit: .init(2, .last))
    await slow.listen("all", spec, tag: 1)
    await engine.settle()
    self.reads.gate.close()
    // The window loses a child, and only the store knows which one is next.
    let reads = self.reads.begun.entries.count + 1
    #expect(await other.put("all/k9", .empty).status == .ok)
    await self.reads.begun.wait { $0.count == reads }
    #expect(await other.put("all/k8", .empty).status == .ok)
    let own = slow.send(.put("all/k7", .empty, hash: nil))
    let next = slow.send(.put("other", DatabaseNode(.int(1)), hash: nil))
    #expect(await other.put("more", DatabaseNode(.int(1))).status == .ok)
    #expect(!slow.messages.contains(.reply(own, .ok)), "the reply of a write comes after its data")
    #expect(self.reads.begun.entries.count == reads, "commits in between cause no more reads")
    self.reads.gate.open()
    _ = await slow.reply(next)
    #expect(Set(slow.node(tag: 1).keys) == ["k5", "k6"])
    let messages = slow.messages
    let data = messages.lastIndex { if case .merge = $0 { true } else { false } }
    let first = messages.firstIndex(of: .reply(own, .ok)), second = messages.firstIndex(of: .reply(next, .ok))
    #expect((data ?? .max) < (first ?? 0) && (first ?? .max) < (second ?? 0), "\(messages)")
  }

  @Test func `the reply of a write does not wait for queries that later commits have read again`() async {
    let slow = TestClient(engine), other = TestClient(engine)
    for number in 0..<10 {
      _ = await slow.put(DatabasePath("all/k\(number)/n"), DatabaseNode(.int(Int64(number))))
    }
    await slow.listen("all", DatabaseQuerySpec(index: .child("n"), limit: .init(2, .last)), tag: 1)
    await engine.settle()
    self.reads.gate.close()
    let reads = self.reads.begun.entries.count + 1
    let own = slow.send(.put("all/k9", .empty, hash: nil))
    await self.reads.begun.wait { $0.count == reads }
    #expect(await other.put("all/k8", .empty).status == .ok)
    // The first read ends, with the data of the write; the second one begins.
    self.reads.gate.open()
    self.reads.gate.close()
    await self.reads.begun.wait { $0.count == reads + 1 }
    #expect(await slow.reply(own).status == .ok)
    self.reads.gate.open()
    await engine.settle()
    #expect(Set(slow.node(tag: 1).keys) == ["k6", "k7"])
  }

  @Test func `a query that commits have overtaken while it began is answered with what they have left`() async {
    let client = TestClient(engine), other = TestClient(engine)
    for key in ["a", "b", "c"] { _ = await client.put(DatabasePath("all/\(key)"), DatabaseNode(.int(1))) }
    _ = await other.get("all")
    self.reads.gate.close()
    let spec = DatabaseQuerySpec(index: .key, limit: .init(2, .first))
    let reads = self.reads.begun.entries.count + 1
    async let listening = client.listen("all", spec, tag: 1)
    await self.reads.begun.wait { $0.count == reads }
    #expect(await other.put("all/a", .empty).status == .ok)
    self.reads.gate.open()
    #expect(await listening.status == .ok)
    #expect(client.node(tag: 1).keys == ["b", "c"])
  }
}
