import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Documents that were read lately are answered without the store, and never older than the state that any reader has
/// seen.
struct RecentDocumentTests {
  @Test func `a document that was read lately costs no read, and is what was committed last`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]), update("rooms/b", ["n": .integer(1)]))
    for _ in 0..<2 { _ = try await engine.get("rooms/a") }
    for number in 2..<6 {
      let (rows, document) = try await store.rows { try await engine.get("rooms/a") }
      #expect(rows.total == 0)
      #expect(document?.fields["n"] == .integer(Int64(number - 1)))
      // Another document's commit leaves it, its own does not.
      try await engine.commit(update("rooms/b", ["n": .integer(Int64(number))]))
      #expect(try await store.rows { try await engine.get("rooms/a") }.rows.total == 0)
      try await engine.commit(update("rooms/a", ["n": .integer(Int64(number))]))
      let (fresh, changed) = try await store.rows { try await engine.get("rooms/a") }
      #expect(fresh.total > 0 && changed?.fields["n"] == .integer(Int64(number)))
    }
    try await engine.commit(.delete(name("rooms/a")))
    #expect(try await engine.get("rooms/a") == nil)
  }

  @Test func `a document that is read once is not kept`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    for number in 0..<200 { try await engine.commit(update("rooms/\(number)", [:])) }
    for number in 0..<200 { _ = try await engine.get("rooms/\(number)") }
    // The last one: the note that an earlier one was read may have been overwritten.
    #expect(try await store.rows { try await engine.get("rooms/199") }.rows.total > 0)
    #expect(try await store.rows { try await engine.get("rooms/199") }.rows.total == 0)
  }

  @Test func `names that look the same and have other bytes are other documents`() async throws {
    let engine = makeEngine()
    let (composed, decomposed) = ("rooms/\u{E9}", "rooms/e\u{301}")
    try await engine.commit(update(composed, ["n": .integer(1)]), update(decomposed, ["n": .integer(2)]))
    for _ in 0..<4 {
      #expect(try await engine.get(composed)?.fields["n"] == .integer(1))
      #expect(try await engine.get(decomposed)?.fields["n"] == .integer(2))
    }
  }

  @Test func `masks take their fields from a document that was read lately`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1), "m": .integer(2)]))
    for _ in 0..<2 { _ = try await engine.get("rooms/a") }
    var request = BatchGetDocumentsRequest(database: database, documents: [name("rooms/a")])
    request.mask = DocumentMask(fieldPaths: ["m"])
    var found: [Document] = []
    try await engine.batchGet(request, context: owner) {
      if case .found(let document)? = $0.result { found.append(document) }
    }
    #expect(found.map(\.fields) == [["m": .integer(2)]])
  }

  @Test func `another engine on the store is believed`() async throws {
    let store = ModelStore()
    let (first, second) = (makeEngine(on: store), makeEngine(on: store))
    for number in 0..<20 {
      let writer = number.isMultiple(of: 3) ? second : first
      try await writer.commit(update("rooms/a", ["n": .integer(Int64(number))]))
      for engine in [first, second, first] {
        #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(Int64(number)))
      }
    }
  }

  @Test func `nothing is answered while a version has been shown that the store has not reported`() {
    let recent = RecentDocuments(limit: 100_000)
    let document = Document(name: name("rooms/a"), fields: [:])
    // Nothing is kept without a store that reports its commits.
    for _ in 0..<2 { recent.noteRead(.init(name: document.name), at: 5) { (document, 10) } }
    #expect(!recent.document(.init(name: document.name)).isFound)
  }

  @Test func `what is kept while a commit is under way that has announced nothing is doubtful`() async throws {
    let (recent, store) = (RecentDocuments(limit: 100_000), ModelStore())
    try await recent.follow(store)
    let key = RecentDocuments.Key(name: name("rooms/a"))
    let document = Document(name: key.name, fields: [:])
    let commit = try await store.write { transaction in
      let version = try await transaction.commitVersion().microseconds
      CommitAnnouncement(to: recent).announce(version) {
        Issue.record("Nothing is kept.")
        return [key.name]
      }
      for _ in 0..<2 { recent.noteRead(key, at: transaction.version.microseconds) { (document, 10) } }
      #expect(recent.document(key).isFound)
      try await transaction.put([1], for: [1])
    }
    guard case .doubtful(let first) = recent.document(key) else {
      Issue.record("It may have changed.")
      return
    }
    #expect(first == commit.version.microseconds)
  }

  @Test func `a commit whose body ran again has announced its last run alone`() async throws {
    let (recent, clock) = (RecentDocuments(limit: 100_000), ManualClock())
    let store = ModelStore(clock: clock.ofStore)
    try await recent.follow(store)
    let keys = ["a", "b"].map { RecentDocuments.Key(name: name("rooms/\($0)")) }
    for key in keys {
      for _ in 0..<2 { recent.noteRead(key, at: 0) { (Document(name: key.name, fields: [:]), 10) } }
    }
    let first = try await store.write { transaction in
      let announcement = CommitAnnouncement(to: recent)
      let version = try await transaction.commitVersion().microseconds
      announcement.announce(version + 1) { [keys[0].name] }
      announcement.announce(version) { [keys[1].name] }
      try await transaction.put([1], for: [1])
    }
    #expect(recent.document(keys[0]).isFound && !recent.document(keys[1]).isFound)
    // The version of the earlier run is another commit's.
    let second = try await store.put([2], for: [1])
    #expect(second.microseconds == first.version.microseconds + 1)
    guard case .doubtful = recent.document(keys[0]) else {
      Issue.record("It may have changed.")
      return
    }
  }

  @Test func `what is kept has a limit, and what is used stays`() async throws {
    let recent = RecentDocuments(limit: 20_000)
    let store = ModelStore()
    try await recent.follow(store)
    let names = (0..<200).map { name("rooms/\($0)") }
    for (number, text) in names.enumerated() {
      for _ in 0..<2 { recent.noteRead(.init(name: text), at: 0) { (Document(name: text, fields: [:]), 50) } }
      if number > 0 { #expect(recent.document(.init(name: names[0])).isFound) }
    }
    let kept = names.filter { recent.document(.init(name: $0)).isFound }
    #expect(kept.count > 20 && kept.count < 80)
    // Too large to be worth it.
    let large = name("rooms/large")
    for _ in 0..<2 { recent.noteRead(.init(name: large), at: 0) { (Document(name: large, fields: [:]), 2_000) } }
    #expect(!recent.document(.init(name: large)).isFound)
  }

  @Test func `a commit of another engine costs one look into the log, and forgets what it changed alone`() async throws
  {
    let store = CountingStore()
    let (first, second) = (makeEngine(on: store), makeEngine(on: store))
    try await first.commit(update("rooms/a", ["n": .integer(0)]), update("rooms/b", ["n": .integer(0)]))
    for path in ["rooms/a", "rooms/b", "rooms/a", "rooms/b"] { _ = try await first.get(path) }
    for number in Int64(1)...20 {
      try await second.commit(update("rooms/b", ["n": .integer(number)]))
      let (doubtful, kept) = try await store.rows { try await first.get("rooms/a") }
      #expect(kept?.fields["n"] == .integer(0))
      #expect(doubtful.total <= 2, "a row of the log, and the horizon")
      #expect(try await store.rows { try await first.get("rooms/a") }.rows.total == 0)
      let (rows, changed) = try await store.rows { try await first.get("rooms/b") }
      #expect(changed?.fields["n"] == .integer(number))
      #expect(rows.total > 0)
    }
  }

  @Test func `commits that change no document forget none`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", ["n": .integer(0)]), update("rooms/b", ["m": .integer(0)]))
    for _ in 0..<2 { _ = try await engine.get("rooms/a") }
    // An index is made, in separate commits.
    _ = try await engine.query(
      StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: "m")]))
    let database = try await engine.engine(database)
    await database.indexes.settle()
    let rows = try await store.rows { try await engine.get("rooms/a") }.rows
    #expect(rows.total <= 1, "the horizon, and no document")
    #expect(try await store.rows { try await engine.get("rooms/a") }.rows.total == 0)
  }

  @Test func `where the log has been pruned since a foreign commit nothing is kept`() async throws {
    let clock = ManualClock()
    let store = ModelStore(clock: clock.ofStore)
    var options = FirestoreServiceOptions()
    options.clock = clock.service
    let (first, second) = (
      FirestoreEngine(store: store, options: options), FirestoreEngine(store: store, options: options)
    )
    try await first.commit(update("rooms/a", ["n": .integer(0)]))
    for _ in 0..<2 { _ = try await first.get("rooms/a") }
    try await second.commit(update("rooms/a", ["n": .integer(1)]))
    let database = try await second.engine(database)
    // A pruner that still looks around would let the next commit pass.
    await database.pruner.settle()
    clock.advance(by: .seconds(2 * 3600))
    try await second.commit(update("rooms/b", [:]))
    await database.pruner.settle()
    #expect(try await store.read { try await $0.entries(in: database.keys.log(after: 0)) }.count == 1)
    #expect(try await first.get("rooms/a")?.fields["n"] == .integer(1))
  }

  @Test func `after very many foreign changes nothing is kept`() async throws {
    let store = ModelStore()
    let (first, second) = (makeEngine(on: store), makeEngine(on: store))
    try await first.commit(update("rooms/a", ["n": .integer(0)]), update("rooms/b", ["n": .integer(0)]))
    for path in ["rooms/a", "rooms/b", "rooms/a", "rooms/b"] { _ = try await first.get(path) }
    for number in Int64(1)...600 { try await second.commit(update("rooms/b", ["n": .integer(number)])) }
    #expect(try await first.get("rooms/a")?.fields["n"] == .integer(0))
    #expect(try await first.get("rooms/b")?.fields["n"] == .integer(600))
  }

  @Test(arguments: UInt64(1)...6)
  func `a caller of one engine sees no smaller number than before`(seed: UInt64) async throws {
    let store = ModelStore()
    let engines = (0..<2).map { number in makeEngine(on: store) { $0.tuning = .random(seed: seed &+ number) } }
    try await engines[0].commit(update("rooms/a", ["n": .integer(0)]))
    try await withThrowingTaskGroup { group in
      for (number, engine) in engines.enumerated() {
        group.addTask {
          var generator = SplitMix(seed: seed &+ UInt64(number))
          for _ in 0..<60 {
            let write = Write(
              .transform(name: name("rooms/a"), transforms: [FieldTransform(fieldPath: "n", .increment(.integer(1)))]))
            try await engine.commit(Int.random(in: 0..<4, using: &generator) == 0 ? update("rooms/b", [:]) : write)
          }
        }
        for _ in 0..<2 {
          group.addTask {
            var last: Int64 = 0
            for _ in 0..<200 {
              guard case .integer(let number)? = try await engine.get("rooms/a")?.fields["n"] else {
                Issue.record("it has gone")
                return
              }
              #expect(number >= last)
              last = number
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}

extension RecentDocuments.Answer {
  var isFound: Bool { if case .found = self { true } else { false } }
}
