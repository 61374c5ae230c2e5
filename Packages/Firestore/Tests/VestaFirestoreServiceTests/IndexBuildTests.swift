import Foundation
import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

@Suite struct IndexBuildTests {
  private static let shape = IndexShape(
    collectionID: "rooms", isGroup: true, parts: [.init(path: FieldPath(["n"]), kind: .ascending)])

  /// Registers the index without making it: no other code does, as the keeper is closed.
  private func unfinished(_ engine: FirestoreEngine) async throws -> (DocumentDatabase, id: Int64) {
    let database = try await engine.engine(database)
    database.indexes.close()
    let keys = database.keys
    let id = try await database.store.write { transaction in
      let catalogue = try NumberRow.number(try await transaction.get(keys.catalogue)) + 1
      let row = IndexRow(shape: Self.shape, progress: .building(after: nil), lastUsed: 0)
      try await transaction.put(try row.bytes, for: keys.index(catalogue))
      try await transaction.put(NumberRow.bytes(catalogue), for: keys.catalogue)
      return catalogue
    }
    return (database, id.value)
  }

  /// The entries that the index must have, and the entries that it has.
  private func entries(_ database: DocumentDatabase, _ id: Int64) async throws -> (
    wanted: [StoreEntry], found: [StoreEntry]
  ) {
    let prefix = database.keys.entries(ofIndex: id)
    return try await database.store.read { reader in
      let documents = try await reader.entries(in: KeyRange(prefix: database.keys.documents))
      let wanted = try documents.flatMap { document in
        let pathKey = database.keys.pathKey(ofDocumentKey: document.key)
        return Self.shape.entries(try pathKey.path(), try DocumentRow(document.value).fields, at: pathKey)
          .map { StoreEntry(key: prefix + $0, value: $1) }
      }
      return (
        wanted.sorted { $0.key.lexicographicallyPrecedes($1.key) },
        try await reader.entries(in: KeyRange(prefix: prefix))
      )
    }
  }

  /// Sets the field, sets another one, or deletes the document.
  private func change(_ engine: FirestoreEngine, _ generator: inout SplitMix) async throws {
    let path = "rooms/\(Int.random(in: 0..<40, using: &generator))"
    let number = Value.integer(Int64.random(in: 0..<9, using: &generator))
    switch Int.random(in: 0..<5, using: &generator) {
    case 0, 1: try await engine.commit(update(path, ["n": number]))
    case 2: try await engine.commit(update(path, ["m": number]))
    case 3: try await engine.commit(.delete(name(path)))
    default:
      let document = Document(name: name(path), fields: ["m": number])
      try await engine.commit(.update(document, mask: DocumentMask(fieldPaths: ["m"])))
    }
  }

  @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8])
  func `documents that change during the build have their current entries`(seed: UInt64) async throws {
    var generator = SplitMix(seed: seed)
    let engine = FirestoreEngine(store: ModelStore())
    for _ in 0..<60 { try await change(engine, &generator) }
    let (database, id) = try await unfinished(engine)
    var tuning = EngineTuning.random(seed: seed)
    (tuning.indexes.entriesInRun, tuning.indexes.documentsInPage) = (
      generator.pick([1, 7, 20]), generator.pick([1, 5])
    )
    let build = IndexBuild(of: id, keys: database.keys, name: database.name, tuning: tuning)
    var isReady = false
    while !isReady, var run = try await database.store.read({ try await build.next(in: $0) }) {
      while run.isReading {
        for _ in 0..<Int.random(in: 0..<3, using: &generator) { try await change(engine, &generator) }
        let before = run
        run = try await database.store.read { try await build.read(before, in: $0) }
      }
      while run.isOpen {
        for _ in 0..<Int.random(in: 0..<4, using: &generator) { try await change(engine, &generator) }
        let before = run
        run = try await database.store.write { try await build.write(before, part: 3, in: $0) }.value
      }
      isReady = run.isLast
    }
    #expect(isReady)
    for _ in 0..<20 { try await change(engine, &generator) }
    let (wanted, found) = try await entries(database, id)
    #expect(found == wanted, "seed \(seed), \(tuning)")
  }

  @Test func `an index leaves no lease behind, also when it is asked for again`() async throws {
    let engine = makeEngine()
    for number in 0..<5 { try await engine.commit(update("rooms/\(number)", ["n": .integer(Int64(number))])) }
    let database = try await engine.engine(database)
    for _ in 0..<2 {
      database.indexes.build([Self.shape])
      await database.indexes.settle()
      let rows = try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.leases)) }
      #expect(rows.isEmpty)
    }
  }

  @Test func `a build among other commits pauses on the engine's clock for as long as its transactions take`()
    async throws
  {
    let clock = ManualClock()
    // Transactions take two milliseconds of the clock, and between its commits another process commits.
    let (base, isBusy) = (ModelStore(clock: clock.ofStore), Locked(false))
    let store = HookedStore(base, isShared: true)
    store.hook { step in
      guard step == .committed else { return }
      clock.jump(to: clock.now + 2_000)
      guard isBusy.withLock({ $0 }) else { return }
      _ = try await base.write { try await $0.put([UInt8](UUID().uuidString.utf8), for: [0xFE]) }
    }
    let engine = makeEngine(at: store, clock) { options in
      options.pollInterval = .seconds(3_600)
      (options.tuning.indexes.firstPart, options.tuning.indexes.smallestPart) = (2, 2)
      options.tuning.indexes.largestPart = 4
    }
    for number in 0..<20 { try await engine.commit(update("rooms/\(number)", ["n": .integer(Int64(number))])) }
    let database = try await engine.engine(database)
    isBusy.withLock { $0 = true }
    database.indexes.build([Self.shape])
    let isReady = Locked(false)
    let build = Task {
      await database.indexes.settle()
      isReady.withLock { $0 = true }
    }
    var pauses = 0
    while !isReady.withLock({ $0 }) {
      if let due = clock.deadlines.first, due <= clock.now + 5_000 {
        pauses += 1
        clock.advance(to: due)
      }
      await Task.yield()
    }
    await build.value
    // The first part is written without a pause: whether others commit is known after it.
    #expect((4...10).contains(pauses))
    let catalogue = try await database.store.read { try await database.indexes.catalogue(in: $0) }
    let id = try #require(catalogue.byShape[Self.shape]?.id)
    let (wanted, found) = try await entries(database, id)
    #expect(found == wanted && found.count == 20)
  }

  @Test func `a run that the log has forgotten is read again`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let (database, id) = try await unfinished(engine)
    let build = IndexBuild(
      of: id, keys: database.keys, name: database.name, retention: database.options.retention.microseconds)
    let run = try #require(try await database.store.read { try await build.next(in: $0) })
    for number in 0..<3 {
      clock.advance(seconds: 3600)
      try await engine.commit(update("rooms/a", ["n": .integer(Int64(10 + number))]))
    }
    let outdated = try await database.store.write { try await build.write(run, part: 9, in: $0) }.value
    #expect(!outdated.isOpen)
    #expect(!outdated.isLast)
    let again = try #require(try await database.store.read { try await build.next(in: $0) })
    #expect(try await database.store.write { try await build.write(again, part: 9, in: $0) }.value.isLast)
    let (wanted, found) = try await entries(database, id)
    #expect(found == wanted)
  }

  @Test(arguments: UInt64(1)...4)
  func `entries are in the order of their keys, however they were added`(seed: UInt64) {
    var random = SplitMix(seed: seed)
    for _ in 0..<50 {
      var (entries, all, taken) = (SortedEntries(), [[UInt8]](), [[UInt8]]())
      for _ in 0..<Int.random(in: 0...9, using: &random) {
        let keys = (0..<Int.random(in: 0...6, using: &random)).map { _ in
          (0..<Int.random(in: 0...3, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }
        }
        all += keys
        entries.add(keys.map { ($0, $0 + [9], PathKey(bytes: $0)) })
        #expect(entries.count == all.count)
      }
      while let entry = entries.next() {
        #expect(entry.value == entry.key + [9] && entry.pathKey.bytes == entry.key)
        taken.append(entry.key)
        #expect(entries.count == all.count - taken.count)
      }
      #expect(taken == all.sorted { $0.lexicographicallyPrecedes($1) }, "seed \(seed)")
      #expect(entries.isEmpty)
    }
  }
}
