import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// Results in pages, read times that are snapshots, and a past that costs what has changed.
@Suite struct PagesTests {
  private static let clock = ManualClock()

  private static func fill(_ engine: FirestoreEngine, _ count: Int, in collection: String = "rooms") async throws {
    for start in stride(from: 0, to: count, by: 400) {
      let writes = (start..<min(start + 400, count)).map {
        update("\(collection)/\(10_000 + $0)", ["n": .integer(Int64($0 % 7)), "m": .integer(Int64($0))])
      }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  @Test(arguments: [
    StructuredQuery.all("rooms"),
    StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "n", .descending)]),
    StructuredQuery(
      from: [.init(collectionID: "rooms")], filter: .field(path: "n", .greaterThan, .integer(1)), offset: 5, limit: 900),
    StructuredQuery(
      from: [.init(collectionID: "rooms")],
      filter: .field(path: "n", .in, .array([.integer(1), .integer(2), .integer(6)])),
      orderBy: [.init(fieldPath: "m", .descending)]),
    StructuredQuery(from: [.init(collectionID: "rooms")], filter: .field(path: "n", .equal, .integer(3)), limit: 150),
  ])
  func `pages together are the results of one version, whatever is committed between them`(
    query: StructuredQuery
  ) async throws {
    let engine = makeEngine()
    try await Self.fill(engine, 1500)
    for round in 0..<2 {
      let before = try await engine.query(query)
      var documents: [Document] = []
      var times: Set<Timestamp> = []
      try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) { response in
        times.insert(response.readTime ?? Timestamp(seconds: 0))
        guard let document = response.document else { return }
        documents.append(document)
        // A commit within `receive` changes what follows, and what has been.
        if documents.count.isMultiple(of: 97) {
          let number = 10_000 + (documents.count * 31 + round) % 1500
          try await engine.commit(.delete(name("rooms/\(number)")), update("rooms/x\(number)", ["n": .integer(2)]))
          try await engine.commit(update("rooms/\(number + 1)", ["n": .integer(5), "m": .integer(-1)]))
        }
      }
      #expect(documents == before && times.count == 1)
      try await engine.engine(database).indexes.settle()
    }
  }

  @Test func `many documents by name are of one version`() async throws {
    let engine = makeEngine()
    try await Self.fill(engine, 900)
    let names = (0..<900).map { name("rooms/\(10_000 + $0)") } + [name("rooms/none")]
    var found = 0
    var missing = 0
    try await engine.batchGet(
      BatchGetDocumentsRequest(database: database, documents: names), context: owner
    ) { response in
      switch response.result {
      case .found(let document)?:
        #expect(document.fields["late"] == nil)
        found += 1
      case .missing?: missing += 1
      case nil: break
      }
      if (found + missing).isMultiple(of: 200) {
        let number = 10_000 + found
        try await engine.commit(
          update("rooms/\(number)", ["late": .null]), .delete(name("rooms/\(number + 300)")), update("rooms/none", [:]))
      }
    }
    #expect(found == 900 && missing == 1)
  }

  @Test func `a slow receiver holds no read of the store open`() async throws {
    let store = HookedStore(isShared: true)
    let engine = makeEngine(on: store)
    try await Self.fill(engine, 600)
    let names = (0..<600).map { name("rooms/\(10_000 + $0)") }
    try await engine.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: owner) { _ in
      #expect(store.counts.openReads == 0)
    }
    let transaction = try await engine.begin()
    for consistency in [ReadConsistency.latest, .transaction(transaction)] {
      let request = BatchGetDocumentsRequest(database: database, documents: names, consistency: consistency)
      try await engine.batchGet(request, context: owner) { _ in #expect(store.counts.openReads == 0) }
    }
  }

  @Test func `two reads at one time agree, whatever is committed during them`() async throws {
    let engine = makeEngine(on: ModelStore())
    try await engine.commit(update("sums/a", ["n": .integer(500)]), update("sums/b", ["n": .integer(500)]))
    let writer = Task {
      for number in 0..<300 {
        let part = Int64(number % 400)
        try await engine.commit(update("sums/a", ["n": .integer(part)]), update("sums/b", ["n": .integer(1000 - part)]))
      }
    }
    for _ in 0..<60 {
      let time = Timestamp(microseconds: ServiceClock.system.now())
      let first = try await engine.query(.all("sums"), .readTime(time))
      await Task.yield()
      let second = try await engine.query(.all("sums"), .readTime(time))
      #expect(first == second)
      let sum = first.reduce(Int64(0)) { sum, document in
        if case .integer(let number)? = document.fields["n"] { sum + number } else { sum }
      }
      #expect(sum == 1000)
    }
    try await writer.value
  }

  @Test func `a get in the past reads the document and not the log`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    let old = try await engine.commit(update("rooms/a", ["n": .integer(0)]), update("rooms/b", [:])).commitTime
    for number in 0..<400 { try await engine.commit(update("halls/h", ["n": .integer(Int64(number))])) }
    for number in 0..<100 { try await engine.commit(update("rooms/a", ["n": .integer(Int64(number + 1))])) }
    let (rows, document) = try await store.rows { try await engine.get("rooms/b", .readTime(old)) }
    #expect(document != nil && rows.total <= 6, "\(rows)")
    // It was changed too often to be followed back: a few rows of its collection, and one part of the log; or what is
    // not sorted by collection yet.
    let sorter = try await engine.engine(database).sorter
    await sorter?.settle()
    for limit in [240, 80] {
      let (more, changed) = try await store.rows { try await engine.get("rooms/a", .readTime(old)) }
      #expect(changed?.fields["n"] == .integer(0) && more.total < limit, "\(more)")
      try await sorter?.sort()
    }
  }

  private func changed(_ rounds: Int, _ change: (Int) async throws -> Timestamp) async throws -> [Timestamp] {
    var times: [Timestamp] = []
    for round in 0..<rounds { times.append(try await change(round)) }
    return times
  }

  @Test func `a get in the past follows the document back, whatever else its collection has changed`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", ["n": .integer(0)]), update("rooms/gone", [:]))
    try await engine.commit(.delete(name("rooms/gone")))
    let times = try await changed(4) { round in
      for number in 0..<300 { try await engine.commit(update("rooms/\(number)", ["n": .integer(Int64(round))])) }
      return try await engine.commit(update("rooms/a", ["n": .integer(Int64(round + 1))])).commitTime
    }
    for (round, time) in times.enumerated() {
      let (rows, document) = try await store.rows { try await engine.get("rooms/a", .readTime(time)) }
      #expect(document?.fields["n"] == .integer(Int64(round + 1)))
      #expect(rows.total <= 8, "\(rows)")
    }
    #expect(try await engine.get("rooms/gone", .readTime(times[0])) == nil)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `documents in the past are unchanged, though they were deleted and set again`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let engine = makeEngine()
    var state: [String: Document] = [:]
    var history: [(time: Timestamp, state: [String: Document])] = []
    let paths = ["rooms/a", "rooms/b", "rooms/c", "halls/a", "rooms/a/rooms/b"]
    for number in 0..<120 {
      var writes: [Write] = []
      for path in paths where data.pick([0, 1, 2]) == 0 {
        writes.append(
          data.pick([0, 1, 2]) == 0 ? .delete(name(path)) : update(path, ["n": .integer(Int64(number / 2))]))
      }
      let time = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner).commitTime
      for path in paths { state[path] = try await engine.get(path) }
      if !writes.isEmpty { history.append((time, state)) }
    }
    for (time, state) in history {
      for path in paths {
        #expect(try await engine.get(path, .readTime(time)) == state[path], "seed \(seed): \(path) at \(time)")
      }
    }
  }

  @Test func `a target resumes at the cost of what its collection has changed`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", [:]), update("rooms/b", [:]))
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await follower.snapshot()
    follower.cancel()
    let hub = try await engine.engine(database).hub
    while !hub.isIdle { await Task.yield() }
    for number in 0..<500 { try await engine.commit(update("halls/h", ["n": .integer(Int64(number))])) }
    try await engine.commit(update("rooms/b", ["n": .null]))
    let sorter = try await engine.engine(database).sorter
    await sorter?.settle()
    // The changes of the collection, and what is not sorted by collection yet: less than has to be sorted at a time.
    for limit in [EngineTuning().log.unsortedCommits + 30, 30] {
      let (rows, _) = try await store.rows {
        var again = try await Follower(engine)
        again.adopt(2, from: follower)
        again.add(Target(id: 2, .query(parent: root, .all("rooms")), resume: .token(follower.token)))
        try await again.snapshot()
        #expect(again.targets[2]?[name("rooms/b")]?.fields == ["n": .null])
        again.cancel()
      }
      #expect(rows.total < limit, "\(rows)")
      try await sorter?.sort()
    }
  }

  @Test func `groups and names in the past are as they were`() async throws {
    let engine = makeEngine()
    var writes: [Write] = []
    for hall in 0..<20 { writes += (0..<5).map { update("halls/\(hall)/rooms/\($0)", ["n": .integer(Int64($0))]) } }
    let time = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner).commitTime
    let group = StructuredQuery(
      from: [.init(collectionID: "rooms", allDescendants: true)], filter: .field(path: "n", .greaterThan, .integer(2)))
    let before = try await engine.query(group)
    for hall in 0..<20 {
      try await engine.commit(
        .delete(name("halls/\(hall)/rooms/4")), update("halls/\(hall)/rooms/0", ["n": .integer(9)]))
      try await engine.commit(update("rooms/\(hall)", ["n": .integer(5)]), update("__esc1__/x", [:]))
    }
    #expect(try await engine.query(group, .readTime(time)) == before && before.count == 40)
    try await engine.engine(database).indexes.settle()
    #expect(try await engine.query(group, .readTime(time)) == before)
    #expect(try await engine.get("halls/3/rooms/4", .readTime(time)) != nil)
    #expect(try await engine.get("rooms/3", .readTime(time)) == nil)
  }

  @Test func `the log of a database that is written to for days does not grow`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let base = try await engine.engine(database)
    var largest = 0
    for number in 0..<600 {
      clock.advance(seconds: 60)
      try await engine.commit(update("rooms/\(number % 5)", ["n": .integer(Int64(number))]), update("halls/h", [:]))
      guard number.isMultiple(of: 25) else { continue }
      await base.pruner.settle()
      let rows = try await base.store.read { reader in
        let log = try await reader.entries(in: KeyRange(prefix: base.keys.log))
        return log.count + (try await reader.entries(in: KeyRange(prefix: base.keys.changes))).count
      }
      if number > 100 { largest = max(largest, rows) }
    }
    // An hour and a sixteenth are 64 commits, each with a row of the log, and a few rows of the two collections.
    #expect(largest > 60 && largest < 160, "\(largest)")
  }

  @Test func `a commit with a clock a year ahead costs the log nothing lasting`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let base = try await engine.engine(database)
    let year: Int64 = 365 * 86_400
    try await engine.commit(update("rooms/a", [:]))
    clock.jump(to: clock.now + year * 1_000_000)
    try await engine.commit(update("rooms/a", ["n": .null]))
    clock.jump(to: clock.now - year * 1_000_000)
    var largest = 0
    for number in 0..<400 {
      clock.advance(seconds: 60)
      try await engine.commit(update("rooms/a", ["n": .integer(Int64(number))]))
      guard number.isMultiple(of: 20) else { continue }
      await base.pruner.settle()
      let rows = try await base.store.read { try await $0.entries(in: KeyRange(prefix: base.keys.log)).count }
      if number > 100 { largest = max(largest, rows) }
    }
    #expect(largest > 40 && largest < 120, "\(largest)")
  }

  @Test func `the retention follows the clock, also while versions are ahead of it`() {
    var marks = VersionMarks()
    let (hour, ahead): (Int64, Int64) = (3_600, 1_000_000)
    // Versions that are times: an hour back.
    #expect(marks.horizon(at: 10_000, now: 10_000, retention: hour).version == 6_400)
    #expect(marks.horizon(at: 20_000, now: 20_100, retention: hour).version == 16_400)
    // Far ahead nothing is old before the clock has advanced by an hour, and then the state at its beginning is.
    var version = ahead
    var last: Int64 = 0
    for now in stride(from: Int64(20_200), to: 40_000, by: 100) {
      version += 1
      last = marks.horizon(at: version, now: now, retention: hour).version
      if now < 20_000 + hour { #expect(last < 40_000) }
    }
    #expect(last > ahead + 130 && last < version - 30, "\(last - ahead) of \(version - ahead)")
    // The clock is put back: nothing is known to be old.
    #expect(marks.horizon(at: version, now: 100, retention: hour).version < 0)
  }

  @Test func `reading a database that was never written to is NOT_FOUND, and makes none`() async throws {
    let engine = makeEngine()
    for number in 0..<50 {
      let other = "projects/p/databases/d\(number)"
      let request = BatchGetDocumentsRequest(database: other, documents: [other + "/documents/rooms/a"])
      #expect(await failure { try await engine.batchGet(request, context: owner) { _ in } }?.code == .notFound)
      #expect(await failure { _ = try await engine.listen(database: other, context: owner) }?.code == .notFound)
    }
    let other = "projects/p/databases/d7"
    let write = Write.update(Document(name: other + "/documents/rooms/a"))
    _ = try await engine.commit(CommitRequest(database: other, writes: [write]), context: owner)
    let request = BatchGetDocumentsRequest(database: other, documents: [other + "/documents/rooms/a"])
    try await engine.batchGet(request, context: owner) { _ in }
    // The default database of a project is there from the start, up to a number of projects.
    var refused = 0
    for number in 0..<120 {
      let other = "projects/x\(number)/databases/(default)"
      let request = BatchGetDocumentsRequest(database: other, documents: [other + "/documents/rooms/a"])
      if await failure({ try await engine.batchGet(request, context: owner) { _ in } }) != nil { refused += 1 }
    }
    #expect(refused == 21)
  }

  @Test func `a store that stood still for hours is read in pages during commits`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await Self.fill(engine, 700)
    clock.advance(seconds: 7200)
    var count = 0
    try await engine.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: owner) { response in
      guard response.document != nil else { return }
      count += 1
      if count == 1 {
        clock.advance(seconds: 60)
        try await engine.commit(.delete(name("rooms/10650")))
      }
    }
    #expect(count == 700)
  }
}
