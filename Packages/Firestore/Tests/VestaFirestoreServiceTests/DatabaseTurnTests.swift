import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Several databases in turns: whichever was named last, each call finds its own, and none that was deleted.
@Suite(.timeLimit(.minutes(15)))
struct DatabaseTurnTests {
  // Some names begin with others: a call must not be taken for one of the shorter name.
  private static let names = ["a", "ab", "abc"].map { "projects/p/databases/\($0)" }

  private static func code(_ body: () async throws -> Void) async -> ServiceCode? {
    do { try await body() } catch { return (error as? FirestoreServiceError)?.code ?? .unknown }
    return nil
  }

  private static func note(in database: String) -> String { "\(database)/documents/notes/n" }

  private static func write(_ number: Int64, in database: String, _ engine: FirestoreEngine) async -> ServiceCode? {
    let document = Document(name: note(in: database), fields: ["n": .integer(number)])
    return await code {
      _ = try await engine.commit(CommitRequest(database: database, writes: [.update(document)]), context: owner)
    }
  }

  /// The number in the note of a database; -1 for no note, `nil` for no database.
  private static func get(in database: String, _ engine: FirestoreEngine) async throws -> Int64? {
    let number = Locked<Int64>(-1)
    let request = BatchGetDocumentsRequest(database: database, documents: [note(in: database)])
    let code = await code {
      try await engine.batchGet(request, context: owner) { response in
        guard case .found(let document)? = response.result, case .integer(let n)? = document.fields["n"] else { return }
        number.withLock { $0 = n }
      }
    }
    #expect(code == nil || code == .notFound)
    return code == nil ? number.withLock { $0 } : nil
  }

  /// The numbers of the notes, by name: a call that names a place in the database, and not the database.
  private static func query(in database: String, _ engine: FirestoreEngine) async throws -> Int64? {
    let number = Locked<Int64>(-1)
    let query = StructuredQuery(from: [.init(collectionID: "notes")])
    let code = await code {
      try await engine.runQuery(RunQueryRequest(parent: "\(database)/documents", query: query), context: owner) {
        guard case .integer(let n)? = $0.document?.fields["n"] else { return }
        number.withLock { $0 = n }
      }
    }
    #expect(code == nil || code == .notFound)
    return code == nil ? number.withLock { $0 } : nil
  }

  /// Makes, writes, reads and deletes one database, and compares with a plain model.
  private static func history(seed: UInt64, of database: String, _ engine: FirestoreEngine) async throws {
    var random = SplitMix(seed: seed)
    // `nil` while there is no database, -1 while it has no note.
    var model: Int64?
    for step in 0..<60 {
      switch random.below(8) {
      case 0:
        let code = await code { try await engine.createDatabase(database, context: owner) }
        #expect(code == (model == nil ? nil : .alreadyExists), "seed \(seed), step \(step)")
        model = model ?? -1
      case 1:
        let code = await code { try await engine.deleteDatabase(database, context: owner) }
        #expect(code == (model == nil ? .notFound : nil), "seed \(seed), step \(step)")
        model = nil
      case 2, 3:
        #expect(await write(Int64(step), in: database, engine) == nil)
        model = Int64(step)
      case 4: #expect(try await engine.databases(context: owner).contains(database) == (model != nil))
      case 5, 6: #expect(try await get(in: database, engine) == model, "seed \(seed), step \(step)")
      default: #expect(try await query(in: database, engine) == model, "seed \(seed), step \(step)")
      }
    }
  }

  @Test func `databases that come and go in turns are never taken for one another`() async throws {
    for seed: UInt64 in 0..<30 {
      let engine = makeEngine(on: ModelStore())
      try await withThrowingTaskGroup { group in
        for (number, name) in Self.names.enumerated() {
          group.addTask { try await Self.history(seed: seed * 8 + UInt64(number), of: name, engine) }
        }
        try await group.waitForAll()
      }
      try await engine.close()
    }
  }

  /// Names that are wrong, or of other databases, with what one engine answers that has just been asked for `a`.
  private static let others = [
    "", "projects/p/databases", "projects/p/databases/", "projects/p/databases/a/", "projects/p/databases/a/documents",
    "projects/p/databases/ab", "projects/p/databases/A", "projects/q/databases/a", "x/projects/p/databases/a",
    "projects/p/databases/a/documentsnotes", "projects/p/databases/a/documents/", "projects/p/databases/a//documents",
    "projects/p/databases/a/documents/notes", "projects/p/databases/a/documents/notes/n/",
    "projects/p/databases/\u{E9}",
    "projects/p/databases/e\u{301}",
  ]

  @Test(arguments: others)
  func `a name is read alike whichever database was named before`(name: String) async throws {
    let store = ModelStore()
    let warm = makeEngine(on: store)
    #expect(await Self.write(1, in: Self.names[0], warm) == nil)
    let query = StructuredQuery(from: [.init(collectionID: "notes")])
    func answers(_ engine: FirestoreEngine) async -> [ServiceCode?] {
      [
        await Self.code { _ = try await engine.commit(CommitRequest(database: name, writes: []), context: .init()) },
        await Self.code {
          try await engine.runQuery(RunQueryRequest(parent: name, query: query), context: owner) { _ in }
        },
        await Self.code {
          _ = try await engine.listDocuments(
            ListDocumentsRequest(parent: name, collectionID: "notes"), context: owner)
        },
      ]
    }
    let cold = makeEngine(on: store) { $0.databasesOfUsers = [] }
    let expected = await answers(cold)
    #expect(try await Self.get(in: Self.names[0], warm) == 1)
    let named = makeEngine(on: store) { $0.databasesOfUsers = [] }
    for _ in 0..<2 {
      #expect(try await Self.get(in: Self.names[0], named) == 1)
      #expect(await answers(named) == expected)
    }
    for engine in [cold, warm, named] { try await engine.close() }
  }

  @Test func `calls that run while the engine ends end, later ones are refused, and nothing stays`() async throws {
    for round in 0..<30 {
      var engine: FirestoreEngine? = makeEngine(on: ModelStore())
      weak var last: DocumentDatabase?
      last = try await engine?.engine(database)
      try await end(#require(engine), after: round)
      engine = nil
      // Kept for good, it would end the suite by its time limit.
      while last != nil { await Task.yield() }
    }
  }

  /// Ends an engine while calls of all kinds run in turns.
  private func end(_ engine: FirestoreEngine, after turns: Int) async throws {
    try await withThrowingTaskGroup { group in
      for name in Self.names + [database] {
        group.addTask {
          // A call that does not wait keeps its thread, and a machine with one core has no other thread.
          while await Self.write(1, in: name, engine) == nil { await Task.yield() }
          #expect(await Self.write(1, in: name, engine) == .unavailable)
        }
        group.addTask {
          while let call = try? await engine.listen(database: name, context: owner) {
            call.send(.addTarget(Target(id: 1, .documents([Self.note(in: name)]))))
            _ = try? await call.responses.first { _ in true }
          }
        }
      }
      for _ in 0..<turns { await Task.yield() }
      try await engine.close()
      try await group.waitForAll()
    }
  }
}
