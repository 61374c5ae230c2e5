import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// The cost of one caller for the others, counted: rows, rows of one transaction, and who waits for whom.
struct CompanyTests {
  private static func fill(_ engine: FirestoreEngine, _ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 500) {
      let writes = (start..<min(start + 500, count)).map {
        update("rooms/\(10_000 + $0)", ["n": .integer(Int64($0))])
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  @Test func `the first result of a query costs a page, however many follow`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await Self.fill(engine, 6_000)
    let query = StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")])
    for _ in 0..<2 {
      _ = try await engine.query(query)
      try await engine.engine(database).indexes.settle()
    }
    for query in [query, .all("rooms")] {
      let (rows, _) = try await store.rows {
        struct Enough: Error {}
        await #expect(throws: Enough.self) {
          try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) {
            if $0.document != nil { throw Enough() }
          }
        }
      }
      #expect(rows.total <= 2 * 2_048 + 16, "\(rows): \(query)")
    }
  }

  @Test func `sixty-four receivers that stand still hold up no get, no commit and no new listener`() async throws {
    let engine = makeEngine()
    try await Self.fill(engine, 3_000)
    let (reached, go) = (Locked(0), Latch())
    let all = Latch()
    try await withThrowingTaskGroup { group in
      for _ in 0..<64 {
        group.addTask {
          let isFirst = Locked(true)
          try await engine.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: owner) { _ in
            let counts = isFirst.withLock { first in
              defer { first = false }
              return first
            }
            guard counts else { return }
            let number = reached.withLock { count in
              count += 1
              return count
            }
            if number == 64 { all.open() }
            await go.wait()
          }
        }
      }
      defer { go.open() }
      await all.wait()
      // All of them wait now, until the next lines let them continue.
      try await engine.commit(update("rooms/a", ["n": .integer(-1)]))
      #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(-1))
      var follower = try await Follower(engine)
      follower.add(Target(id: 1, .documents([name("rooms/a")])))
      try await follower.current([1])
      let commit = try await engine.commit(update("rooms/a", ["n": .integer(-2)]))
      try await follower.snapshot(from: commit.commitTime)
      #expect(follower.targets[1]?[name("rooms/a")]?.fields["n"] == .integer(-2))
      go.open()
      try await group.waitForAll()
    }
  }

  @Test func `rows older than the retention are deleted in small steps, and in no caller's commit`() async throws {
    let clock = ManualClock()
    let store = CountingStore(clock: clock.ofStore)
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    let engine = FirestoreEngine(store: store, options: options)
    let base = try await engine.engine(database)
    for number in 0..<1_000 { try await engine.commit(update("rooms/\(number % 7)", ["n": .integer(Int64(number))])) }
    await base.pruner.settle()
    await base.sorter?.settle()
    clock.advance(by: .seconds(2 * 3_600))
    let before = store.commitsSoFar.count
    try await engine.commit(update("rooms/a", [:]))
    let own = store.commitsSoFar[before]
    #expect(own == CountingStore.Changes(put: 2, deleted: 0), "a document, a row of the log")
    await base.pruner.settle()
    let pruning = store.commitsSoFar.dropFirst(before + 1)
    #expect(pruning.reduce(0) { $0 + $1.deleted } >= 1_000)
    #expect(pruning.allSatisfy { $0.deleted <= 128 + 2 }, "the rows of a step, those of the collection, and the lease")
    #expect(try await store.read { try await $0.entries(in: base.keys.log(after: 0)) }.count == 1)
  }

  @Test func `making an index writes at most a thousand entries in one transaction`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await Self.fill(engine, 5_000)
    let base = try await engine.engine(database)
    let before = store.commitsSoFar.count
    _ = try await engine.query(StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n")]))
    await base.indexes.settle()
    let building = store.commitsSoFar.dropFirst(before)
    #expect(building.reduce(0) { $0 + $1.put } >= 5_000)
    #expect(building.allSatisfy { $0.put <= IndexTuning().largestPart + 4 }, "\(building.map(\.put))")
  }

  @Test func `writes with many array elements are applied ahead, however these are spread`() throws {
    func isPreparable(_ counts: [[Int]], _ others: FieldTransform.Operation...) throws -> Bool {
      let writes = counts.enumerated().map { number, counts in
        let changes = counts.enumerated().map { position, count in
          let elements = (0..<count).map { Value.integer(Int64($0)) }
          return FieldTransform(
            fieldPath: "f\(position)",
            position.isMultiple(of: 2) ? .appendMissingElements(elements) : .removeAllFromArray(elements))
        }
        return Write(
          .transform(
            name: name("rooms/\(number)"),
            transforms: changes + others.map { FieldTransform(fieldPath: "other", $0) }))
      }
      return CommitPlan(writes, at: try writes.map { try ResourceName(document: $0.name).path }).isPreparable
    }
    for counts in [[[257]], [[200, 57]], [[200], [57]], [[64, 65], [64, 64]]] {
      #expect(try isPreparable(counts), "\(counts)")
      #expect(try isPreparable(counts, .increment(.integer(1))))
      #expect(try isPreparable(counts, .serverTimestamp))
    }
    for counts in [[[]], [[256]], [[200, 56]], [[128], [64, 64]]] { #expect(try !isPreparable(counts), "\(counts)") }
  }

  /// A draft that is made before its commit and stamped is the draft that the commit would have made.
  @Test(arguments: [UInt64(61), 62])
  func `writes applied ahead have the outcome of writes applied in the commit`(seed: UInt64) throws {
    var data = SplitMix(seed: seed)
    var (made, outdated) = (0, 0)
    for number in 0..<300 {
      let paths = (0..<3).map { "rooms/\($0)" }
      let writes = (0..<data.pick([1, 2, 4])).map { _ -> Write in
        let path = data.pick(paths)
        let elements = (0..<data.pick([0, 3, 300])).map { Value.integer(Int64($0 % data.pick([2, 7, 1_000]))) }
        switch data.pick([0, 1, 2, 3, 4]) {
        case 0: return update(path, data.fields())
        case 4:
          let time = FieldTransform(fieldPath: data.pick(["t", "f.t", "a"]), .serverTimestamp)
          return Write(.transform(name: name(path), transforms: [time]))
        case 1: return .delete(name(path))
        case 2:
          let union = FieldTransform(fieldPath: "a", .appendMissingElements(elements))
          return Write(.update(Document(name: name(path), fields: data.fields()), mask: nil, transforms: [union]))
        default:
          let change = FieldTransform(
            fieldPath: "a", data.pick([.appendMissingElements(elements), .removeAllFromArray(elements)]))
          return Write(.transform(name: name(path), transforms: [change]))
        }
      }
      let documents = try writes.map { try ResourceName(document: $0.name).path }
      let plan = CommitPlan(writes, at: documents)
      let rows = plan.targets.map { _ in
        data.pick([true, false]) ? DocumentRow(created: 5, updated: 6, fields: data.fields()).bytes : nil
      }
      let version = Int64(1_000 + number)
      var expected = CommitDraft(targets: plan.targets, rows: rows[...], version: version)
      try expected.apply(plan)
      let ahead = try CommitDraft(before: plan, rows: rows)
      #expect(ahead.isMade(of: rows[...]))
      let draft = try ahead.stamped(at: version)
      #expect(draft.changes.map(\.after) == expected.changes.map(\.after), "seed \(seed), \(number)")
      #expect(draft.changes.map(\.isChanged) == expected.changes.map(\.isChanged))
      #expect(draft.results == expected.results, "seed \(seed), \(number)")
      made += 1
      var others = rows
      others[0] = DocumentRow(created: 5, updated: 7, fields: [:]).bytes
      if !ahead.isMade(of: others[...]) { outdated += 1 }
    }
    #expect(made == 300 && outdated == 300)
  }

  @Test func `long unions of one array from many tasks lose no element`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["a": .array([])]))
    try await withThrowingTaskGroup { group in
      for task in 0..<8 {
        group.addTask {
          for part in 0..<4 {
            let elements = (0..<400).map { Value.integer(Int64((task * 4 + part) * 400 + $0)) }
            let union = FieldTransform(fieldPath: "a", .appendMissingElements(elements))
            try await engine.commit(Write(.transform(name: name("rooms/a"), transforms: [union])))
          }
        }
      }
      try await group.waitForAll()
    }
    guard case .array(let values)? = try await engine.get("rooms/a")?.fields["a"] else {
      Issue.record("the array has gone")
      return
    }
    #expect(values.count == 12_800)
    #expect(Set(values).count == 12_800)
  }
}
