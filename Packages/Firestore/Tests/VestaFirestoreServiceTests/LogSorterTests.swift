import Testing
import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// The log by collection: written after the commits, and the same to every reader at all times.
struct LogSorterTests {
  private static let collections = ["rooms", "halls", "rooms/1/notes", "halls/1/notes", "x"]

  /// Each part of the log is in the rows of its collections once, if it is sorted, and nothing else is in them.
  static func check(_ base: DocumentDatabase, _ note: String) async throws {
    try await base.store.read { reader in
      let keys = base.keys
      let sorted = try await reader.get(keys.sorted).map { try PositionRow.position($0) }
      let horizon = try NumberRow.number(try await reader.get(keys.horizon))
      var expected: Set<[String]> = []
      for entry in try await reader.entries(in: KeyRange(prefix: keys.log)) {
        let position = try keys.position(ofLogKey: entry.key)
        if let sorted, position > sorted { continue }
        for change in try LogRow(entry.value).changes where position.version > horizon {
          expected.insert(["\(position.version)", "\(position.part)", "\(try change.pathKey.path())"])
        }
      }
      var found: Set<[String]> = []
      for entry in try await reader.entries(in: KeyRange(prefix: keys.changes)) {
        let parts = try ChangeRow(entry.value).parts
        var decoder = KeyDecoder(entry.key, from: keys.changes.count)
        let id = try decoder.string()
        let group = keys.changes(ofGroup: CollectionID(id))
        let collection = Array(PathKey.collectionPrefix(in: entry.key[group.count...]))
        let last = try LogPosition(entry.key, from: group.count + collection.count)
        #expect(parts.last?.position == last && parts.map(\.position) == parts.map(\.position).sorted(), "\(note)")
        #expect(last.version > horizon, "\(note): a row that nobody can want")
        for part in parts where part.position.version > horizon {
          for document in part.ids {
            let path = try PathKey(bytes: collection + document).path()
            let isNew = found.insert(["\(part.position.version)", "\(part.position.part)", "\(path)"]).inserted
            #expect(isNew, "\(note): \(path) twice")
          }
        }
      }
      #expect(found == expected, "\(note)")
    }
  }

  /// The changes, read from the log alone.
  private static func changes(
    _ snapshot: Snapshot, after version: Int64, _ isWanted: (ResourcePath) -> Bool
  ) async throws -> [ResourcePath: [[UInt8]?]] {
    var changes: [ResourcePath: [[UInt8]?]] = [:]
    try await snapshot.visitChanges(after: version, in: .everything) { change in
      let path = try change.pathKey.path()
      if isWanted(path) { changes[path, default: []].append(change.before) }
      return .next
    }
    return changes
  }

  private static func changes(
    _ snapshot: Snapshot, after version: Int64, in scope: ChangeScope
  ) async throws -> [ResourcePath: [[UInt8]?]] {
    var changes: [ResourcePath: [[UInt8]?]] = [:]
    for change in try await snapshot.changes(after: version, in: scope) {
      changes[try change.pathKey.path(), default: []].append(change.before)
    }
    return changes
  }

  /// Commits, sorters of two engines, pruning and readers at random.
  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6])
  func `what has changed is the same, however much of the log is sorted`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    let engines = (0..<2).map { _ in
      var options = FirestoreServiceOptions()
      options.clock = clock.service
      return FirestoreEngine(store: store, options: options)
    }
    try await engines[0].commit(update("x/0", [:]))
    let bases = [try await engines[0].engine(database), try await engines[1].engine(database)]
    var versions: [Int64] = []
    for round in 0..<300 {
      let index = Int.random(in: 0..<2, using: &random)
      let (engine, base) = (engines[index], bases[index])
      clock.advance(by: .milliseconds(Int.random(in: 0...40_000, using: &random)))
      switch Int.random(in: 0..<12, using: &random) {
      case 0: try await base.sorter?.sort()
      case 1:
        // Both at once: one of them wins each step.
        async let other: Void? = bases[1 - index].sorter?.sort()
        try await base.sorter?.sort()
        _ = try await other
      case 2:
        try await base.reading { snapshot in
          let horizon = try await snapshot.horizon()
          let version = max(versions.randomElement(using: &random) ?? 0, horizon)
          for collection in Self.collections {
            let path = ResourcePath(splitting: collection)
            let found = try await Self.changes(snapshot, after: version, in: .collection(path))
            #expect(found == (try await Self.changes(snapshot, after: version) { $0.parent == path }), "seed \(seed)")
          }
          let found = try await Self.changes(snapshot, after: version, in: .group("notes"))
          let expected = try await Self.changes(snapshot, after: version) { $0.parent.lastSegment == "notes" }
          #expect(found == expected, "seed \(seed)")
          let changed = try await snapshot.changedPathKeys(after: version, inGroup: "notes").map { try $0.path() }
          #expect(Set(changed) == Set(expected.keys), "seed \(seed)")
          let paths = (0..<3).map { _ in
            ResourcePath(splitting: "rooms/\(Int.random(in: 0..<4, using: &random))")
          }
          let pathKeys = try await Self.changes(snapshot, after: version, in: .pathKeys(Set(paths.map { PathKey($0) })))
          #expect(pathKeys == (try await Self.changes(snapshot, after: version) { paths.contains($0) }), "seed \(seed)")
        }
      default:
        let writes = (0..<Int.random(in: 1...3, using: &random)).map { number in
          let collection = Self.collections.randomElement(using: &random) ?? "x"
          return update("\(collection)/\(number)", ["n": .integer(Int64(round))])
        }
        let request = CommitRequest(database: database, writes: writes)
        versions.append(try await engine.commit(request, context: owner).commitTime.microseconds ?? 0)
        await base.pruner.settle()
      }
      if round.isMultiple(of: 20) {
        for base in bases { await base.sorter?.settle() }
        try await Self.check(base, "seed \(seed), round \(round)")
      }
    }
    try await bases[0].sorter?.sort()
    try await Self.check(bases[0], "seed \(seed), at the end")
  }

  @Test func `a commit writes its document and the log, and many commits together the rows of their collections`()
    async throws
  {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    for number in 0..<100 { try await engine.commit(update("rooms/\(number)", ["n": .integer(1)])) }
    #expect(store.commitsSoFar.dropFirst().allSatisfy { $0.put == 2 })
    let base = try await engine.engine(database)
    try await base.sorter?.sort()
    // One row of the collection, and the position.
    #expect(store.commitsSoFar.last?.put == 2)
    try await Self.check(base, "sorted")
  }

  @Test func `the log is sorted by itself after some commits, by bytes too, and after a start`() async throws {
    let store = ModelStore()
    let engine = makeEngine(on: store)
    let base = try await engine.engine(database)
    func position(_ base: DocumentDatabase) async throws -> LogPosition {
      await base.sorter?.settle()
      return try await base.store.read { try PositionRow.position(try #require(try await $0.get(base.keys.sorted))) }
    }
    let first = try await position(base)
    for number in 0..<127 { try await engine.commit(update("rooms/\(number)", [:])) }
    #expect(try await position(base) == first)
    let last = try await engine.commit(update("rooms/x", [:])).commitTime
    #expect(try await position(base).version == last.microseconds)
    // Two rows of the log with what was there before.
    let text = Value.string(String(repeating: "x", count: 200_000))
    try await engine.commit(update("rooms/y", ["t": text]))
    try await engine.commit(update("rooms/y", ["t": text, "n": .integer(1)]))
    #expect(try await position(base).version == last.microseconds)
    let large = try await engine.commit(update("rooms/y", [:])).commitTime
    #expect(try await position(base).version == large.microseconds)
    for number in 0..<100 { try await engine.commit(update("halls/\(number)", [:])) }
    // Another process continues where this one has stopped.
    let other = makeEngine(on: store)
    for number in 0..<28 { try await other.commit(update("halls/\(number)", ["n": .integer(1)])) }
    #expect(try await position(try await other.engine(database)) > LogPosition(version: large.microseconds ?? 0))
    try await Self.check(base, "at the end")
  }

  @Test func `what is committed while the log is sorted does not wait for a later commit`() async throws {
    let store = HeldStore()
    let base = try await makeEngine(on: store).engine(database)
    let keys = base.keys
    var tuning = LogTuning()
    tuning.unsortedCommits = 4
    let sorter = LogSorter(store: store, keys: keys, waiting: 0, recent: base.recent, tuning: tuning)
    let first: Int64 = 1_000
    func commit(_ numbers: ClosedRange<Int64>) async throws {
      for number in numbers {
        let pathKey = PathKey(ResourcePath(splitting: "rooms/\(number)"))
        let row = LogRow(changes: [LoggedChange(pathKey: pathKey, before: nil)])
        _ = try await store.write { try await $0.put(row.bytes, for: keys.log(LogPosition(version: first + number))) }
        sorter.noteCommit(bytes: 1)
      }
    }
    _ = try await store.write { try await $0.put(PositionRow.bytes(LogPosition(version: first)), for: keys.sorted) }
    store.hold(KeyRange(prefix: keys.log))
    try await commit(1...4)
    // It has begun to read, and does not see what is committed from now on.
    await store.arrival()
    try await commit(5...14)
    store.release()
    await sorter.settle()
    let sorted = try await store.read { try PositionRow.position(try #require(try await $0.get(keys.sorted))) }
    #expect(sorted.version == first + 14)
  }

  @Test func `where commits are a round trip away, they write the rows of the collections themselves`() async throws {
    // A store that does not report its commits.
    let engine = makeEngine(on: HeldStore())
    for number in 0..<20 {
      try await engine.commit(update("rooms/\(number)", [:]), update("halls/\(number % 3)", ["n": .integer(1)]))
    }
    let base = try await engine.engine(database)
    #expect(base.sorter == nil)
    try await Self.check(base, "written by the commits")
    let count = try await base.store.read { try await $0.entries(in: KeyRange(prefix: base.keys.changes)).count }
    #expect(count == 23)
  }

  @Test func `commits of the sorter change no document that is kept`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    for _ in 0..<2 { _ = try await engine.get("rooms/a") }
    try await engine.engine(database).sorter?.sort()
    #expect(try await store.rows { try await engine.get("rooms/a") }.rows.total == 0)
  }

  @Test func `the rows of a collection are bounded, and whole`() throws {
    var log: [(position: LogPosition, row: LogRow)] = []
    for number in 0..<2_000 {
      let pathKey = PathKey(ResourcePath(splitting: "rooms/document-number-\(number)"))
      log.append(
        (LogPosition(version: Int64(number / 2), part: Int64(number % 2)), LogRow(changes: [.init(pathKey: pathKey)])))
    }
    let rows = try #require(ChangeRow.rows(of: log, limit: 16_384).values.first)
    #expect(rows.count > 3 && rows.allSatisfy { $0.bytes.count < 16_384 + 100 })
    #expect(rows.flatMap { $0.parts.map(\.position) } == log.map(\.position))
    #expect(try rows.allSatisfy { try ChangeRow($0.bytes) == $0 })
  }
}
