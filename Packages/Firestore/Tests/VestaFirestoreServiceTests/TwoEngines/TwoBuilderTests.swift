import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// Indexes, pruning and their leases with two engines on one store.
@Suite struct TwoBuilderTests {
  private static let byNumber = StructuredQuery(
    from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")], limit: 2)

  private func indexesUsed(_ engine: FirestoreEngine, _ query: StructuredQuery = byNumber) async throws -> Int {
    var used = 0
    let request = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: true))
    try await engine.runQuery(request, context: owner) { used = $0.explainMetrics?.indexesUsed.count ?? used }
    return used
  }

  private func fill(_ engine: FirestoreEngine, _ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 500) {
      let writes = (start..<min(start + 500, count)).map { update("rooms/\($0)", ["n": .integer(Int64($0))]) }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  /// The rows of the indexes that are kept.
  private func kept(by engine: FirestoreEngine) async throws -> [IndexRow] {
    let database = try await engine.engine(database)
    let rows = IndexRegister(keys: database.keys, declared: [], most: 0, sweepStep: 500)
    return try await database.store.read { try await rows.all(in: $0) }.map(\.row).filter(\.isMaintained)
  }

  private func leases(_ engine: FirestoreEngine) async throws -> [StoreEntry] {
    let database = try await engine.engine(database)
    return try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.leases)) }
  }

  @Test func `an index that one engine makes is used and maintained by both`() async throws {
    let engines = twoEngines()
    try await fill(engines[0], 50)
    _ = try await engines[0].query(Self.byNumber)
    try await engines[0].engine(database).indexes.settle()
    try await engines[1].commit(update("rooms/new", ["n": .integer(-1)]))
    for engine in engines {
      #expect(try await indexesUsed(engine) == 1)
      #expect(try await engine.query(Self.byNumber).map(\.name) == [name("rooms/new"), name("rooms/0")])
    }
    #expect(try await leases(engines[0]).isEmpty)
  }

  @Test func `while one engine makes an index the other leaves it alone`() async throws {
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    let (first, second) = (makeEngine(at: StoreDoor(store), clock), makeEngine(at: StoreDoor(store), clock))
    try await fill(first, 20)
    let keys = try await first.engine(database).keys
    let index = try await unfinishedIndex(of: first)
    let lease = StoreLease(key: keys.lease(.building(index)), owner: 77)
    _ = try await store.write { try await lease.keep(in: $0) }
    for _ in 0..<3 {
      _ = try await second.query(Self.byNumber)
      try await second.engine(database).indexes.settle()
      #expect(try await indexesUsed(second) == 0)
      clock.advance(seconds: 19)
      // The builder that works renews its lease; the other one continues to wait.
      _ = try await store.write { try await lease.keep(in: $0) }
    }
    clock.advance(seconds: 61)
    _ = try await second.query(Self.byNumber)
    try await second.engine(database).indexes.settle()
    #expect(try await indexesUsed(second) == 1)
  }

  @Test func `queries that lack an index which another engine makes begin no transaction while it does`()
    async throws
  {
    let clock = ManualClock()
    let store = CountingStore(clock: clock.ofStore)
    let engine = makeEngine(at: store, clock)
    try await fill(engine, 20)
    let base = try await engine.engine(database)
    let index = try await unfinishedIndex(of: engine)
    _ = try await store.write { try await StoreLease(key: base.keys.lease(.building(index)), owner: 77).keep(in: $0) }
    func ask() async throws -> Int {
      await base.pruner.settle()
      await base.sorter?.settle()
      let before = store.writesSoFar
      _ = try await engine.query(Self.byNumber)
      await base.indexes.settle()
      return store.writesSoFar - before
    }
    // The first one looks whether the lease is free.
    #expect(try await ask() > 0)
    for _ in 0..<3 { #expect(try await ask() == 0) }
    clock.advance(by: StoreLease.usualLength + .milliseconds(20))
    #expect(try await indexesUsed(engine) == 0)
    await base.indexes.settle()
    #expect(try await indexesUsed(engine) == 1)
  }

  /// Registers the index without making it.
  private func unfinishedIndex(of engine: FirestoreEngine) async throws -> Int64 {
    let database = try await engine.engine(database)
    let keys = database.keys
    let shape = IndexShape(
      collectionID: "rooms", isGroup: false, parts: [.init(path: FieldPath(["n"]), kind: .ascending)])
    return try await database.store.write { transaction in
      let catalogue = try NumberRow.number(try await transaction.get(keys.catalogue)) + 1
      let row = IndexRow(shape: shape, progress: .building(after: nil), lastUsed: 0)
      try await transaction.put(try row.bytes, for: keys.index(catalogue))
      try await transaction.put(NumberRow.bytes(catalogue), for: keys.catalogue)
      return catalogue
    }.value
  }

  @Test(arguments: [0, 1, 3])
  func `an index whose builder is killed in the middle is finished by the other engine`(writes: Int) async throws {
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    let door = StoreDoor(store)
    let (first, second) = (makeEngine(at: door, clock), makeEngine(at: StoreDoor(store), clock))
    try await fill(first, 2_100)
    door.kill(afterWrites: writes)
    _ = try? await first.query(Self.byNumber)
    await (try? first.engine(database))?.indexes.settle()
    let keys = try await second.engine(database).keys
    let building = try await store.read { try await $0.entries(in: KeyRange(prefix: keys.indexes)) }
    #expect(door.isShut && building.allSatisfy { (try? IndexRow($0.value).isReady) == false })
    // No other builder continues before the lease has ended, and writes are maintained all the while.
    try await second.commit(update("rooms/7", ["n": .integer(-7)]), .delete(name("rooms/1")))
    _ = try await second.query(Self.byNumber)
    try await second.engine(database).indexes.settle()
    #expect(try await indexesUsed(second) == (writes == 0 ? 1 : 0))
    clock.advance(seconds: 61)
    _ = try await second.query(Self.byNumber)
    try await second.engine(database).indexes.settle()
    #expect(try await indexesUsed(second) == 1)
    #expect(try await second.query(Self.byNumber).map(\.name) == [name("rooms/7"), name("rooms/0")])
    let entries = try await store.read { try await $0.entries(in: KeyRange(prefix: keys.entries)) }
    #expect(entries.count == 2_099)
    #expect(try await leases(second).isEmpty)
  }

  @Test func `an index stays while any engine uses it`() async throws {
    let clock = ManualClock()
    let engines = twoEngines(on: ModelStore(clock: clock.ofStore), clock)
    try await engines[0].commit(update("rooms/a", ["n": .integer(1), "m": .integer(1), "k": .integer(1)]))
    let queries = ["n", "m", "k"].map {
      StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: $0)])
    }
    for query in queries { _ = try await engines[0].query(query) }
    func settle() async throws { for engine in engines { await (try await engine.engine(database)).indexes.settle() } }
    try await settle()
    for _ in 0..<20 {
      clock.advance(seconds: 86_400)
      for index in 0..<2 { _ = try await engines[index].query(queries[index]) }
      try await settle()
    }
    for engine in engines {
      for index in 0..<2 { #expect(try await indexesUsed(engine, queries[index]) == 1, "\(index)") }
    }
    let keys = try await engines[0].engine(database).keys
    let store = try await engines[0].engine(database).store
    #expect(try await store.read { try await $0.entries(in: KeyRange(prefix: keys.entries)).count } == 2)
  }

  @Test func `an engine whose clock is a year ahead for a day costs no index and leaves none for ever`() async throws {
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    let year = Int64(366 * 86_400_000_000)
    let sane = makeEngine(at: StoreDoor(store), clock)
    let aheadClock = ServiceClock(now: { clock.now + year }, schedule: { clock.schedule(after: $0, $1) })
    let ahead = makeEngine(at: StoreDoor(store), clock) { $0.clock = aheadClock }
    try await sane.commit(update("rooms/a", ["n": .integer(1), "m": .integer(1)]))
    let queries = ["n", "m"].map {
      StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: $0)])
    }
    func settle() async throws {
      for engine in [sane, ahead] { await (try await engine.engine(database)).indexes.settle() }
    }
    for query in queries { _ = try await sane.query(query) }
    try await settle()
    for query in queries { _ = try await ahead.query(query) }
    try await settle()
    for query in queries { #expect(try await indexesUsed(sane, query) == 1) }
    let rows = try await kept(by: sane)
    #expect(rows.allSatisfy { $0.lastUsed < clock.now + 1_000_000 })
    for _ in 0..<10 {
      clock.advance(seconds: 86_400)
      _ = try await sane.query(queries[0])
      try await settle()
    }
    #expect(try await indexesUsed(sane, queries[0]) == 1)
    #expect(try await kept(by: sane).count == 1)
  }

  // MARK: Pruning

  @Test func `the log is pruned by one engine, and by the other when that one has been killed`() async throws {
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    let door = StoreDoor(store)
    let (first, second) = (makeEngine(at: door, clock), makeEngine(at: StoreDoor(store), clock))
    for number in 0..<400 { try await first.commit(update("rooms/\(number % 5)", ["n": .integer(Int64(number))])) }
    clock.advance(seconds: 4_000)
    // The commit, the horizon, one step; then it is killed in the next one.
    door.kill(afterWrites: 3)
    try await first.commit(update("rooms/a", [:]))
    await (try? first.engine(database))?.pruner.settle()
    let keys = try await second.engine(database).keys
    func rows() async throws -> Int {
      try await store.read { try await $0.entries(in: KeyRange(prefix: keys.log)).count }
    }
    #expect(try await rows() > 200)
    for _ in 0..<4 {
      clock.advance(seconds: 300)
      try await second.commit(update("rooms/b", ["n": .integer(clock.now)]))
      try await second.engine(database).pruner.settle()
    }
    #expect(try await rows() < 10)
    #expect(try await leases(second).isEmpty)
  }

  // MARK: Leases

  @Test func `a lease passes from owner to owner, and never has two`() async throws {
    for seed in UInt64(1)...5 {
      var random = SplitMix(seed: seed)
      let clock = ManualClock()
      let store = ModelStore(clock: clock.ofStore)
      let (keys, length) = (DocumentDatabaseKeys(1), StoreLease.usualLength.microseconds)
      // The last owner, and the time when it took the lease.
      var last: (owner: UInt64, at: Int64)?
      for _ in 0..<300 {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: clock.jump(to: clock.now + Int64.random(in: -90...90, using: &random) * 1_000_000)
        case 1: clock.advance(seconds: Int64.random(in: 0...30, using: &random))
        default: break
        }
        let owner = UInt64.random(in: 1...3, using: &random)
        let lease = StoreLease(key: keys.lease(.pruning), owner: owner)
        let isGivenBack = Int.random(in: 0..<12, using: &random) == 0
        let (holder, now) = try await store.write { transaction in
          if isGivenBack {
            try await lease.release(in: transaction)
            return (nil as StoreLease.Holder?, Int64(-1))
          }
          return (try await lease.take(in: transaction), try await transaction.commitVersion().microseconds)
        }.value
        if isGivenBack {
          if last?.owner == owner { last = nil }
          continue
        }
        if let holder {
          #expect(last != nil && holder.remaining > 0 && holder.remaining <= length, "seed \(seed)")
          #expect(last?.owner != owner, "seed \(seed): refused to its owner")
        } else {
          if let last, last.owner != owner { #expect(now - last.at > length / 2, "seed \(seed): taken away") }
          last = (owner, now)
        }
      }
    }
  }
}
