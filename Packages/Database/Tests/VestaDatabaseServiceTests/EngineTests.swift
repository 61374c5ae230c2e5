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

@Suite(.timeLimit(.minutes(20)))
struct EngineTests {
  private func indexed() -> DatabaseServiceOptions {
    var options = DatabaseServiceOptions()
    for path in ["", "a", "$x", "b/$y"] {
      for child in ["a", "b/c", ".value"] { options.indexes.add(path: path, indexOn: child) }
    }
    return options
  }

  @Test(arguments: 0..<24)
  func `reads, queries and listens agree with an obvious model`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let engine = DatabaseEngine(store: ModelStore(), options: seed % 2 == 0 ? indexed() : DatabaseServiceOptions())
    let writer = TestClient(engine), reader = TestClient(engine)
    var model = DatabaseNode.empty
    var listens: [(tag: Int, path: DatabasePath, spec: DatabaseQuerySpec)] = []
    for step in 0..<60 {
      if step % 8 == 0 {
        let spec = random.spec()
        // One listen to everything at a place, so that the test's copy of its data is not fed twice.
        let path = spec.loadsAllData ? DatabasePath("\(random.key())") : random.path(0...2)
        if !spec.loadsAllData || !listens.contains(where: { $0.spec.loadsAllData }) {
          listens.append((step + 1, path, spec))
          #expect(await reader.listen(path, spec, tag: step + 1).status == .ok)
        }
      }
      if Int.random(in: 0..<4, using: &random) == 0 {
        let base = random.path(0...1)
        // Written in the order of the keys, whatever the order of the request.
        let values = ["10", "a", "b/c"].map { DatabasePathValue(DatabasePath($0), random.node()) }
        #expect(await writer.call(.merge(base, values.shuffled(using: &random))).status == .ok)
        for value in values { model = model.setting(base.appending(value.path), to: value.node) }
      } else {
        var path = random.path(0...3)
        var node = random.node()
        if Int.random(in: 0..<6, using: &random) == 0 {
          path = path.child(.priority)
          node = DatabaseNode(.int(Int64.random(in: 0..<3, using: &random)))
        }
        #expect(await writer.put(path, node).status == .ok)
        model = model.setting(path, to: node)
      }
      let path = random.path(0...2), spec = random.spec()
      #expect(await reader.get(path, spec) == NodeWindow.window(of: model[path], spec), "seed \(seed) \(path) \(spec)")
      #expect(await reader.get(.root) == model, "seed \(seed)")
      await engine.settle()
      for listen in listens {
        let expected = NodeWindow.window(of: model[listen.path], listen.spec)
        #expect(reader.node(tag: listen.tag) == expected, "seed \(seed) step \(step) \(listen.path) \(listen.spec)")
      }
    }
  }

  @Test func `a write with a hash is refused when the data is another`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    #expect(await client.put("n", DatabaseNode(.int(1)), hash: "").status == .ok)
    #expect(await client.put("n", DatabaseNode(.int(2)), hash: "").status == .dataStale)
    let hash = NodeHash.hash(DatabaseNode(.int(1)))
    #expect(await client.put("n", DatabaseNode(.int(2)), hash: hash).status == .ok)
    #expect(await client.get("n").leaf == .int(2))
  }

  @Test func `the data of a write arrives before its reply`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    await client.listen("a", tag: 1)
    let id = client.send(.put("a/b", DatabaseNode(.int(1)), hash: nil))
    _ = await client.reply(id)
    let messages = client.messages
    let data = messages.firstIndex(of: .data("a/b", DatabaseNode(.int(1)), tag: nil))
    let reply = messages.firstIndex(of: .reply(id, .ok))
    #expect(data != nil && reply != nil && (data ?? 0) < (reply ?? 0))
  }

  @Test func `a listen with the hash of the data is not sent the data`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    _ = await client.put("a", DatabaseNode(.int(1)))
    await client.listen("a", tag: 1, hash: NodeHash.hash(DatabaseNode(.int(1))))
    #expect(!client.messages.contains(.data("a", DatabaseNode(.int(1)), tag: nil)))
  }

  @Test func `a query without an index says so`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    let spec = DatabaseQuerySpec(index: .child("size"), limit: .init(1, .first))
    #expect(await client.listen("rooms", spec, tag: 1).warnings == ["no_index"])
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "rooms", indexOn: "size")
    let other = TestClient(DatabaseEngine(store: ModelStore(), options: options))
    #expect(await other.listen("rooms", spec, tag: 1).warnings == [])
  }

  @Test func `indexes are read from a rules document and built for data that is there`() async throws {
    let store = ModelStore()
    let first = DatabaseEngine(store: store)
    let writer = TestClient(first)
    for number in 0..<20 {
      let node = DatabaseNode(children: [("size", DatabaseNode(.int(Int64(number * 7 % 20))))])
      _ = await writer.put(DatabasePath("rooms/r\(number)"), node)
    }
    await first.settle()
    var options = DatabaseServiceOptions()
    options.indexes = try DatabaseIndexes(rules: #"{"rules": {"rooms": {".read": true, ".indexOn": "size"}}}"#)
    let counted = HookedStore(store, closesBase: false)
    let second = DatabaseEngine(store: counted, options: options)
    let reader = TestClient(second)
    _ = await reader.get("nothing")
    // The index is built between requests.
    await second.settle()
    let before = counted.entries
    let spec = DatabaseQuerySpec(index: .child("size"), limit: .init(2, .last))
    let node = await reader.get("rooms", spec)
    #expect(node.childCount == 2)
    #expect(counted.entries - before <= 8)
    #expect(throws: (any Error).self) { try DatabaseIndexes(rules: #"{"rules": {".indexOn": 1}}"#) }
  }

  @Test func `a write and a small query touch as many rows in a large tree as in a small one`() async {
    func costs(_ count: Int) async -> [Int] {
      let counted = HookedStore()
      let client = TestClient(DatabaseEngine(store: counted))
      let children = (0..<count).map { (DatabaseKey("k\($0)"), DatabaseNode(.int(Int64($0)))) }
      _ = await client.put("all", DatabaseNode(children: children))
      var costs: [Int] = []
      for request in [
        DatabaseRequest.put("all/k17", DatabaseNode(.int(1)), hash: nil),
        .put("all/new", DatabaseNode(.int(1)), hash: nil),
        .put("all/new", .empty, hash: nil), .get("all/k17", .all),
        .get("all", DatabaseQuerySpec(limit: .init(2, .last))),
        .get("all", DatabaseQuerySpec(index: .key, start: .init(DatabaseNode(.string("k3"))), limit: .init(2, .first))),
      ] {
        let before = counted.entries
        _ = await client.call(request)
        costs.append(counted.entries - before)
      }
      return costs
    }
    let small = await costs(100), large = await costs(5000)
    #expect(small == large, "\(small) \(large)")
    #expect(large.allSatisfy { $0 < 20 })
  }

  @Test func `operations for the end of a session run once, whichever way it ends`() async throws {
    let store = ModelStore()
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine)
    _ = await client.call(.onDisconnectPut("count", DatabaseNode(.incrementInt(1))))
    _ = await client.call(.onDisconnectMerge("m", [DatabasePathValue("a", DatabaseNode(.bool(true)))]))
    _ = await client.call(.onDisconnectPut("gone", DatabaseNode(.int(1))))
    _ = await client.call(.onDisconnectCancel("gone"))
    client.close()
    client.close()
    await engine.settle()
    let other = TestClient(engine)
    #expect(await other.get("count").leaf == .int(1))
    #expect(await other.get("m/a").leaf == .bool(true))
    #expect(await other.get("gone").isEmpty)
    // An engine that ends without its connections being closed: the next one finds the rows.
    _ = await other.call(.onDisconnectPut("count", DatabaseNode(.incrementInt(10))))
    await engine.settle()
    let next = TestClient(DatabaseEngine(store: store))
    #expect(await next.get("count").leaf == .int(11))
    let last = TestClient(DatabaseEngine(store: store))
    #expect(await last.get("count").leaf == .int(11))
  }

  @Test func `a client that connects again ends the session that it has lost, before it writes`() async throws {
    let engine = DatabaseEngine(store: ModelStore())
    let lost = TestClient(engine)
    let stranger = TestClient(engine)
    for client in [lost, stranger] { _ = await client.call(.onDisconnectPut("online", DatabaseNode(.bool(false)))) }
    let session: String = try #require(lost.session)
    let again = TestClient(engine, lastSession: session)
    #expect(await again.put("online", DatabaseNode(.bool(true))).status == .ok)
    await lost.closed()
    lost.close()
    await engine.settle()
    #expect(await again.get("online").leaf == .bool(true))
    // The id of no session ends nothing.
    _ = await TestClient(engine, lastSession: "none").get("online")
    let current: String = try #require(again.session)
    _ = await TestClient(engine, namespace: "other", lastSession: current).get("online")
    #expect(await stranger.get("online").leaf == .bool(true))
    #expect(await again.get("online").leaf == .bool(true))
  }

  @Test func `what breaks the rules of the tree is refused, and nothing is written`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore()))
    let deep = DatabasePath((0..<33).map { _ in DatabaseKey("k") })
    #expect(await client.put(deep, DatabaseNode(.int(1))).status == .invalid)
    #expect(await client.put("a.b", DatabaseNode(.int(1))).status == .invalid)
    #expect(
      await client.put(DatabasePath([DatabaseKey(String(repeating: "k", count: 769))]), DatabaseNode(.int(1))).status
        == .invalid)
    #expect(await client.put("x", DatabaseNode(.double(.nan))).status == .invalid)
    #expect(await client.put("x", DatabaseNode(.int(1), priority: .bool(true))).status == .invalid)
    let overlap = [DatabasePathValue("a", DatabaseNode(.int(1))), DatabasePathValue("a/b", DatabaseNode(.int(1)))]
    #expect(await client.call(.merge(.root, overlap)).status == .invalid)
    #expect(await client.get(.root).isEmpty)
  }

  @Test func `a client that may not read or write gets permission denied`() async {
    struct Guarded: DatabaseAccess {
      func mayRead(_ path: DatabasePath, _ spec: DatabaseQuerySpec, user: String?) -> Bool { path.front != "secret" }
      func mayWrite(_ path: DatabasePath, _ node: DatabaseNode, user: String?) -> Bool { user == "ada" }
    }
    var options = DatabaseServiceOptions()
    options.access = Guarded()
    let verifier = ReadingCallerVerifier { (token) async throws(ServiceStatus) in
      guard token != "bad" else { throw .unauthenticated }
      guard token != "unknown" else { throw ServiceStatus(.unavailable, "no network") }
      return .user(VerifiedUser(uid: token))
    }
    let callers = CallerCheck(callers: verifier)
    let client = TestClient(DatabaseEngine(store: ModelStore(), options: options, callers: callers))
    #expect(await client.put("a", DatabaseNode(.int(1))).status == .permissionDenied)
    #expect(await client.call(.authenticate(token: "bad")).status == .invalidToken)
    // A verification that fails refuses no user.
    #expect(await client.call(.authenticate(token: "unknown")).status == .unavailable)
    let first = client.send(.authenticate(token: "ada"))
    let second = client.send(.put("a", DatabaseNode(.int(1)), hash: nil))
    #expect(await client.reply(first).status == .ok)
    #expect(await client.reply(second).status == .ok)
    #expect(await client.listen("secret", tag: 1).status == .permissionDenied)
  }

  @Test func `many writes at once are all committed, and each is acknowledged`() async {
    let engine = DatabaseEngine(store: ModelStore())
    let clients = (0..<8).map { _ in TestClient(engine) }
    await withTaskGroup { group in
      for (number, client) in clients.enumerated() {
        group.addTask {
          for step in 0..<20 {
            let status = await client.put(DatabasePath("w/\(number)/\(step)"), DatabaseNode(.int(1))).status
            #expect(status == .ok)
            #expect(await client.put("sum", DatabaseNode(.incrementInt(1))).status == .ok)
          }
        }
      }
    }
    #expect(await clients[0].get("sum").leaf == .int(160))
    #expect(await clients[0].get("w").childCount == 8)
  }

  @Test func `a listen that is ended before its data has been read has its reply`() async {
    let engine = DatabaseEngine(store: ModelStore())
    let client = TestClient(engine)
    for _ in 0..<50 {
      let listen = client.send(.listen(DatabaseListen(path: "a")))
      let unlisten = client.send(.unlisten("a", .all, tag: nil))
      #expect(await client.reply(listen).status == .ok)
      #expect(await client.reply(unlisten).status == .ok)
    }
  }
}
