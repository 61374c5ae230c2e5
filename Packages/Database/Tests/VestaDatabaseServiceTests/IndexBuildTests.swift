import Testing
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaDatabaseService

/// Indexes that are declared when there is data already.
@Suite(.timeLimit(.minutes(20)))
struct IndexBuildTests {
  private func filled(_ store: ModelStore, rooms: Int) async {
    let engine = DatabaseEngine(store: store)
    let client = TestClient(engine)
    let children = (0..<rooms).map { number in
      let room = DatabaseNode(children: [
        ("size", DatabaseNode(.int(Int64(number * 37 % rooms)))), ("name", DatabaseNode(.string("room \(number)"))),
      ])
      return (DatabaseKey("r\(number)"), room)
    }
    _ = await client.put("rooms", DatabaseNode(children: children))
    await engine.settle()
  }

  private func options(_ children: [String]) -> DatabaseServiceOptions {
    var options = DatabaseServiceOptions()
    for child in children { options.indexes.add(path: "rooms", indexOn: child) }
    return options
  }

  private let largest = DatabaseQuerySpec(index: .child("size"), limit: .init(3, .last))

  @Test func `an index is built in steps, and no step reads more than its share`() async {
    let store = ModelStore()
    await filled(store, rooms: 1500)
    let watched = FaultyStore(store)
    let engine = DatabaseEngine(store: watched, options: options(["size"]))
    let client = TestClient(engine)
    _ = await client.get("x")
    await engine.settle()
    #expect(watched.sizes.entries.count > 5)
    #expect((watched.sizes.entries.max() ?? 0) < 4000, "\(watched.sizes.entries)")
    let node = await client.get("rooms", largest)
    let values = node.keys.compactMap { node[$0]["size" as DatabaseKey].leaf?.number }
    #expect(Set(values) == [1497, 1498, 1499])
  }

  @Test func `a query on an index that is not finished has the right result, and no warning`() async {
    let store = ModelStore()
    await filled(store, rooms: 1500)
    let failing = FaultyStore(store)
    failing.allowed.withLock { $0 = 3 }
    let client = TestClient(DatabaseEngine(store: failing, options: options(["size"])))
    let reply = await client.call(.get("rooms", largest))
    #expect(reply.warnings.isEmpty && reply.node.childCount == 3)
    #expect(await client.listen("rooms", largest, tag: 1).warnings.isEmpty)
    #expect(client.node(tag: 1) == reply.node)
  }

  @Test(arguments: [1, 2, 3, 5])
  func `what a builder leaves behind is finished by the next, with what was written between`(steps: Int) async {
    let store = ModelStore()
    await filled(store, rooms: 1500)
    let failing = FaultyStore(store)
    // The first transaction enters the indexes; each step is one.
    failing.allowed.withLock { $0 = 1 + steps }
    let engine = DatabaseEngine(store: failing, options: options(["size"]))
    let client = TestClient(engine)
    _ = await client.get("x")
    await engine.settle()
    failing.allowed.withLock { $0 = nil }
    // Before the cursor, after it, and deleted.
    for (room, size) in [("r0", 5000), ("r999", 5001), ("r1499", 5002), ("r500", nil)] as [(String, Int64?)] {
      let path = DatabasePath("rooms/\(room)")
      _ = await client.put(path.child("size"), size.map { DatabaseNode(.int($0)) } ?? .empty)
    }
    let next = DatabaseEngine(store: store, options: options(["size"]))
    let reader = TestClient(next)
    _ = await reader.get("x")
    await next.settle()
    let counted = HookedStore(store, closesBase: false)
    let third = TestClient(DatabaseEngine(store: counted, options: options(["size"])))
    _ = await third.get("x")
    let before = counted.entries
    #expect(Set(await third.get("rooms", largest).keys) == ["r0", "r999", "r1499"])
    #expect(counted.entries - before < 20, "the index is not used")
    let spec = DatabaseQuerySpec(index: .child("size"), end: .init(DatabaseNode(.int(-1))))
    #expect(await third.get("rooms", spec).keys == ["r500"])
  }

  @Test func `an index whose building failed continues after a minute, without a new engine`() async throws {
    let store = ModelStore()
    await filled(store, rooms: 1500)
    let failing = FaultyStore(store)
    failing.allowed.withLock { $0 = 2 }
    let clock = ManualClock()
    var options = options(["size"])
    options.clock = clock.service
    let engine = DatabaseEngine(store: failing, options: options)
    _ = await TestClient(engine).get("x")
    await engine.settle()
    failing.allowed.withLock { $0 = nil }
    func entries() async throws -> Int {
      try await store.read { try await $0.entries(in: KeyRange(prefix: [3])).count }
    }
    clock.advance(by: .seconds(59))
    await engine.settle()
    #expect(try await entries() < 1500)
    clock.advance(by: .seconds(1))
    await engine.settle()
    #expect(try await entries() == 1500)
    try await engine.close()
    #expect(clock.deadlines.isEmpty)
  }

  @Test func `an index that is no longer declared is removed, and others stay as they are`() async throws {
    let store = ModelStore()
    await filled(store, rooms: 30)
    for children in [["size", "name"], ["name"], ["name", "size"]] {
      let engine = DatabaseEngine(store: store, options: options(children))
      let client = TestClient(engine)
      _ = await client.get("x")
      await engine.settle()
      _ = await client.put("rooms/r3/size", DatabaseNode(.int(Int64.random(in: 100..<200))))
      let entries = try await store.read { try await $0.entries(in: KeyRange(prefix: [3])).count }
      #expect(entries == 30 * children.count)
      #expect(await client.get("rooms", largest).keys.contains("r3"))
    }
  }

  @Test(arguments: 0..<30)
  func `an index that was built has the entries of one that was kept from the start`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var declared = DatabaseServiceOptions()
    for path in ["", "a", "$x", "b/$y"] {
      for child in ["a", "b/c", ".value"] { declared.indexes.add(path: path, indexOn: child) }
    }
    let (late, early) = (ModelStore(), ModelStore())
    let engines = [DatabaseEngine(store: late), DatabaseEngine(store: early, options: declared)]
    let clients = engines.map { TestClient($0) }
    for _ in 0..<40 {
      let (path, node) = (random.path(0...3), random.node(depth: 3))
      for client in clients { _ = await client.put(path, node) }
    }
    for engine in engines { await engine.settle() }
    let engine = DatabaseEngine(store: late, options: declared)
    _ = await TestClient(engine).get("x")
    await engine.settle()
    func entries(_ store: ModelStore) async throws -> [[UInt8]] {
      try await store.read { try await $0.entries(in: KeyRange(prefix: [3])).map(\.key) }
    }
    #expect(try await entries(late) == entries(early), "seed \(seed)")
  }

  @Test func `a damaged catalog is an error and not a crash`() {
    for bytes in [[0xFF], [0, 1], [0, 1, 0, 1], [0, 200, 200, 200], [2, 0, 9]] as [[UInt8]] {
      #expect(throws: (any Error).self) { try IndexCatalog(bytes) }
    }
  }

  @Test func `an index is built to its end past any number of rows that do not belong to it`() async {
    let store = ModelStore()
    let first = TestClient(DatabaseEngine(store: store))
    let other = DatabaseNode(children: (0..<1200).map { (DatabaseKey("x\($0)"), DatabaseNode(.int(1))) })
    for group in ["g0", "g1"] {
      _ = await first.put(DatabasePath("all/\(group)/items/a/n"), DatabaseNode(.int(1)))
      _ = await first.put(DatabasePath("all/\(group)/other"), other)
    }
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "all/$group/items", indexOn: "n")
    let engine = DatabaseEngine(store: store, options: options)
    let client = TestClient(engine)
    _ = await client.get("x")
    await engine.settle()
    for group in ["g0", "g1"] {
      let spec = DatabaseQuerySpec(index: .child("n"), start: .init(DatabaseNode(.int(1))))
      #expect(await client.get(DatabasePath("all/\(group)/items"), spec).keys == ["a"], "\(group)")
    }
  }

  @Test func `a warning that there is no index is that of the place and of the order`() async {
    let client = TestClient(DatabaseEngine(store: ModelStore(), options: options(["size"])))
    func warnings(_ path: DatabasePath, _ child: DatabasePath) async -> [String] {
      await client.call(.get(path, DatabaseQuerySpec(index: .child(child), limit: .init(1, .first)))).warnings
    }
    #expect(await warnings("rooms", "size") == [])
    #expect(await warnings("rooms", "name") == ["no_index"])
    #expect(await warnings("other", "size") == ["no_index"])
  }

  @Test func `a string that an entry has whole is found along the index, and one that fills it is not`() async {
    let counted = HookedStore()
    var options = DatabaseServiceOptions()
    options.indexes.add(path: "all", indexOn: ".value")
    let client = TestClient(DatabaseEngine(store: counted, options: options))
    for number in 0..<200 { _ = await client.put(DatabasePath("all/k\(number)"), DatabaseNode(.int(Int64(number)))) }
    func cost(_ length: Int) async -> Int {
      let before = counted.entries
      let text = DatabaseNode(.string(String(repeating: "x", count: length)))
      #expect(await client.get("all", DatabaseQuerySpec(index: .value, start: .init(text))).isEmpty)
      return counted.entries - before
    }
    #expect(await cost(DatabaseServiceTuning().entryBytes - 1) < 10)
    #expect(await cost(DatabaseServiceTuning().entryBytes) > 200)
  }

  /// Entries of a few bytes: strings that are as long, longer, and the beginning of each other.
  @Test(arguments: 0..<60)
  func `queries of strings along an index equal the tree's, wherever entries are cut`(seed: UInt64) async {
    var random = SplitMix(seed: seed)
    var options = DatabaseServiceOptions()
    options.tuning = .small(&random)
    options.indexes.add(path: "all", indexOn: ".value")
    options.indexes.add(path: "all", indexOn: "s")
    let client = TestClient(DatabaseEngine(store: ModelStore(), options: options))
    func text() -> DatabaseNode {
      DatabaseNode(.string(String((0..<random.below(6)).map { _ in random.pick(["a", "b", "é"]) })))
    }
    var children: [(DatabaseKey, DatabaseNode)] = []
    for number in 0..<12 {
      children.append((DatabaseKey("k\(number)"), random.oneIn(3) ? text() : DatabaseNode(children: [("s", text())])))
    }
    let whole = DatabaseNode(children: children)
    #expect(await client.put("all", whole).status == .ok)
    for _ in 0..<40 {
      var spec = DatabaseQuerySpec(index: random.oneIn(2) ? .value : .child("s"))
      func bound() -> DatabaseQuerySpec.Bound {
        let key = random.oneIn(3) ? DatabaseKey("k\(random.below(12))") : nil
        return .init(text(), key: key, isInclusive: random.oneIn(2))
      }
      if random.oneIn(2) { spec.start = bound() }
      if random.oneIn(3) { spec.end = bound() }
      if random.oneIn(2) { spec.limit = .init(1 + random.below(4), random.oneIn(2) ? .first : .last) }
      let found = await client.get("all", spec)
      #expect(found == NodeWindow.window(of: whole, spec), "seed \(seed) \(options.tuning) \(spec)")
    }
  }
}
