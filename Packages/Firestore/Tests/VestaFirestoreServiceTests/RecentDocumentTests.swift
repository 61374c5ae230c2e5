import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropContracts
import VestaTesting
import Testing

@testable import VestaFirestoreService

/// Documents that were read lately are answered without the store, and never older than what anybody has seen.
struct RecentDocumentTests {
  @Test func `a document that was read lately costs no read, and is what was committed last`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]), update("rooms/b", ["n": .integer(1)]))
    _ = try await engine.get("rooms/a")
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

  @Test func `names that look the same and have other bytes are other documents`() async throws {
    let engine = makeEngine()
    let (composed, decomposed) = ("rooms/\u{E9}", "rooms/e\u{301}")
    try await engine.commit(update(composed, ["n": .integer(1)]), update(decomposed, ["n": .integer(2)]))
    for _ in 0..<2 {
      #expect(try await engine.get(composed)?.fields["n"] == .integer(1))
      #expect(try await engine.get(decomposed)?.fields["n"] == .integer(2))
    }
  }

  @Test func `masks take their fields from a document that was read lately`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1), "m": .integer(2)]))
    _ = try await engine.get("rooms/a")
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

  @Test func `nothing is answered while a version has been shown that the store has not told of`() {
    let recent = RecentDocuments(limit: 100_000)
    let document = Document(name: name("rooms/a"), fields: [:])
    // Nothing is kept without a store that tells of its commits.
    recent.keep(document, readAt: 5, size: 10)
    #expect(recent.document(document.name) == nil)
  }

  @Test func `what is kept has a limit, and what is used stays`() async throws {
    let recent = RecentDocuments(limit: 20_000)
    let store = ModelStore()
    try await recent.follow(store)
    let names = (0..<200).map { name("rooms/\($0)") }
    for (number, text) in names.enumerated() {
      recent.keep(Document(name: text, fields: [:]), readAt: 0, size: 50)
      if number > 0 { #expect(recent.document(names[0]) != nil) }
    }
    let kept = names.filter { recent.document($0) != nil }
    #expect(kept.count > 20 && kept.count < 80)
    // Too large to be worth it.
    recent.keep(Document(name: name("rooms/large"), fields: [:]), readAt: 0, size: 2_000)
    #expect(recent.document(name("rooms/large")) == nil)
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `whoever asks one engine sees no smaller number than before`(seed: UInt64) async throws {
    let store = ModelStore()
    let engines = [makeEngine(on: store), makeEngine(on: store)]
    try await engines[0].commit(update("rooms/a", ["n": .integer(0)]))
    try await withThrowingTaskGroup { group in
      for (number, engine) in engines.enumerated() {
        group.addTask {
          var generator = SeededGenerator(seed: seed &+ UInt64(number))
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
