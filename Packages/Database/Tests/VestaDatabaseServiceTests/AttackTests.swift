import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Hostile, slow and dead clients.
@Suite(.timeLimit(.minutes(20)))
struct AttackTests {
  @Test func `what a client has sent before it hung up is not carried out once the token has been checked`() async {
    let access = GatedAccess()
    var options = DatabaseServiceOptions()
    options.access = access
    let store = ModelStore()
    let engine = DatabaseEngine(store: store, options: options, callers: access.check)
    let client = TestClient(engine), other = TestClient(engine)
    _ = client.send(.authenticate(token: "slow"))
    _ = client.send(.put("late", DatabaseNode(.int(1)), hash: nil))
    _ = client.send(.onDisconnectPut("end", DatabaseNode(.int(1))))
    _ = client.send(.listen(DatabaseListen(path: "a")))
    client.close()
    await client.closed()
    access.gate.open()
    await access.checked.wait { $0.count == 1 }
    for _ in 0..<20 {
      await Task.yield()
      await engine.settle()
    }
    _ = await other.put("b", DatabaseNode(.int(1)))
    #expect(await other.get("late").isEmpty)
    // Nothing waits for an end that has been: an engine that opens the store next finds nothing to do.
    let next = TestClient(DatabaseEngine(store: store))
    #expect(await next.get("end").isEmpty)
    #expect(engine.watchCount(in: "test") == 0)
  }

  @Test func `a connection that could not be opened writes nothing`() async {
    let store = FaultyStore(ModelStore())
    store.failures.withLock { $0 = 1 }
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine)
    _ = client.send(.put("n", DatabaseNode(.incrementInt(1)), hash: nil))
    await client.closed()
    await engine.settle()
    let other = TestClient(engine)
    #expect(await other.get("n").isEmpty)
    #expect(await other.put("n", DatabaseNode(.incrementInt(1))).status == .ok)
    #expect(await other.get("n").leaf == .int(1))
  }

  @Test func `a damaged row above a write is an error that names it, and nothing is written`() async throws {
    let store = ModelStore()
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine)
    #expect(await client.put("a/b", DatabaseNode(.int(1), priority: .int(2))).status == .ok)
    let key = Keys(namespace: "test").data("a/b")
    for damage: [UInt8] in [[], [0xFF], [1]] {
      try await store.put(damage, for: key)
      let before = try await store.read { try await $0.entries(in: .all) }
      for request: DatabaseRequest in [
        .put("a/b/c", DatabaseNode(.int(3)), hash: nil),
        .merge(
          "a", [DatabasePathValue("x", DatabaseNode(.int(4))), DatabasePathValue("b/c/d", DatabaseNode(.int(5)))]),
      ] {
        let reply = await client.call(request)
        #expect(reply.status == .unavailable && reply.message.contains("a/b is damaged"), "\(damage): \(reply)")
      }
      #expect(try await store.read { try await $0.entries(in: .all) } == before, "\(damage)")
    }
    // Everything next to it can be written.
    #expect(await client.put("c", DatabaseNode(.int(6))).status == .ok)
  }

  @Test func `writes of a group whose outcome is unknown are not repeated`() async {
    let store = FaultyStore(ModelStore())
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine)
    #expect(await client.put("n", DatabaseNode(.int(0))).status == .ok)
    store.unknown.withLock { $0 = true }
    // While the first commit is under way the others gather into groups.
    let ids = (0..<64).map { _ in client.send(.put("n", DatabaseNode(.incrementInt(1)), hash: nil)) }
    for id in ids {
      let reply = await client.reply(id)
      #expect(reply.status == .unavailable && reply.message.contains("unknown"), "\(reply)")
    }
    store.unknown.withLock { $0 = false }
    // Each was stored, once.
    #expect(await TestClient(engine).get("n").leaf == .int(64))
  }

  @Test func `operations for an end that could not be stored run at the next opportunity, once`() async {
    let store = FaultyStore(ModelStore())
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine), other = TestClient(engine)
    await other.listen("count", tag: 1)
    _ = await client.call(.onDisconnectPut("count", DatabaseNode(.incrementInt(1))))
    store.failures.withLock { $0 = 1 }
    client.close()
    await client.closed()
    #expect(await other.get("count").isEmpty)
    _ = await TestClient(engine).get("x")
    #expect(await other.get("count").leaf == .int(1))
    await engine.settle()
    #expect(other.node(tag: 1).leaf == .int(1))
    _ = await TestClient(engine).get("x")
    #expect(await other.get("count").leaf == .int(1))
  }

  @Test func `a client that signs out is sent nothing more of what it may no longer read`() async {
    var options = DatabaseServiceOptions()
    let access = GatedAccess(isOpen: true)
    options.access = access
    let engine = DatabaseEngine(store: ModelStore(), options: options, callers: access.check)
    let client = TestClient(engine), writer = TestClient(engine)
    #expect(await client.call(.authenticate(token: "ada")).status == .ok)
    #expect(await client.listen("of/ada", tag: 1).status == .ok)
    #expect(await client.listen("open", tag: 2).status == .ok)
    _ = await writer.put("of/ada", DatabaseNode(.int(1)))
    #expect(await client.call(.unauthenticate).status == .ok)
    _ = await writer.put("of/ada", DatabaseNode(.int(2)))
    _ = await writer.put("open", DatabaseNode(.int(2)))
    await engine.settle()
    #expect(client.node(tag: 1).leaf == .int(1))
    #expect(client.node(tag: 2).leaf == .int(2))
    #expect(client.messages.contains(.listenRevoked("of/ada", .all)))
    // Another user takes the connection over.
    #expect(await client.call(.authenticate(token: "ada")).status == .ok)
    #expect(await client.listen("of/ada", tag: 1).status == .ok)
    #expect(await client.call(.authenticate(token: "eve")).status == .ok)
    _ = await writer.put("of/ada", DatabaseNode(.int(3)))
    await engine.settle()
    #expect(client.node(tag: 1).leaf == .int(2))
  }

  @Test func `a write to very many places is checked in a moment`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    let values = (0..<40_000).map { DatabasePathValue(DatabasePath("k\($0)/x"), DatabaseNode(.int(1))) }
    let overlap = values + [DatabasePathValue("k17", DatabaseNode(.int(1)))]
    #expect(await client.call(.merge("m", overlap)).status == .invalid)
    #expect(await client.get("m").isEmpty)
  }

  @Test func `paths of a write that only begin alike do not overlap`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    let alike = ["a", "a b", "a!", "a-b/c", "ab", "1", "01", "1:2"]
    let values = alike.map { DatabasePathValue(DatabasePath($0), DatabaseNode(.int(1))) }
    #expect(await client.call(.merge("m", values)).status == .ok)
    #expect(await client.get("m").childCount == alike.count)
    for (upper, lower) in [("a", "a/b"), ("a", "a"), ("a", "a/.priority"), ("", "x"), ("1", "1/.priority")] {
      let pair = [upper, "a b", "a!", lower].map { DatabasePathValue(DatabasePath($0), DatabaseNode(.int(1))) }
      #expect(await client.call(.merge("n", pair)).status == .invalid, "\(upper) \(lower)")
    }
    #expect(await client.get("n").isEmpty)
  }

  @Test func `a query with a limit reads no more than what a commit may have changed in it`() async {
    let counted = HookedStore()
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "all", indexOn: "n")
    let engine = DatabaseEngine(store: counted, options: options)
    let client = TestClient(engine)
    func child(_ number: Int) -> DatabaseNode {
      let extra = (0..<20).map { (DatabaseKey("x\($0)"), DatabaseNode(.int(1))) }
      return DatabaseNode(children: [("n", DatabaseNode(.int(Int64(number))))] + extra)
    }
    for number in 0..<100 { _ = await client.put(DatabasePath("all/k\(number)"), child(number)) }
    let spec = DatabaseQuerySpec(index: .child("n"), limit: .init(50, .last))
    await client.listen("all", spec, tag: 7)
    func cost(_ request: DatabaseRequest) async -> Int {
      await engine.settle()
      let before = counted.entries
      _ = await client.call(request)
      await engine.settle()
      return counted.entries - before
    }
    // Within the window, deep and whole; outside of it; into it.
    #expect(await cost(.put("all/k90/x1", DatabaseNode(.int(2)), hash: nil)) < 60)
    #expect(await cost(.put("all/k3/x1", DatabaseNode(.int(2)), hash: nil)) < 60)
    #expect(await cost(.put("all/k95", child(95), hash: nil)) < 120)
    #expect(await cost(.put("all/new", child(200), hash: nil)) < 120)
    let shown = SlowTree(client.node(tag: 7))
    let all = SlowTree(await client.get("all"))
    #expect(shown == all.result(of: SlowTree.Query(order: "n", last: 50)))
  }
}

/// Accepts every token but only when the gate is open; the place `of/<user>` belongs to the user.
final class GatedAccess: DatabaseAccess {
  let gate: Gate
  let checked = Log<String>()

  init(isOpen: Bool = false) { gate = Gate(isOpen: isOpen) }

  var check: CallerCheck {
    CallerCheck(
      callers: ReadingCallerVerifier { [gate, checked] (token) async throws(ServiceStatus) in
        await gate.wait()
        defer { checked.add(token) }
        return .user(VerifiedUser(uid: token))
      })
  }

  func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, user: String?) -> Bool {
    guard path.front == "of" else { return !path.isRoot }
    return path.keys.dropFirst().first?.text == user
  }

  func mayWrite(_ path: DatabasePath, _ node: DatabaseNode, user: String?) -> Bool { true }
}
