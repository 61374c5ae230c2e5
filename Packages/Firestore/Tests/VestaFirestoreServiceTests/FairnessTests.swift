import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreService

/// Counts the cost of calls, alone and next to a busy neighbour: attempts, and rows that are read.
struct FairnessTests {
  /// Adds one to a document in transactions; returns how often they had to begin.
  ///
  /// - Parameter meanwhile: Called when a transaction has read, before it commits.
  private static func transactions(
    _ count: Int, on engine: FirestoreEngine, meanwhile: () async throws -> Void = {}
  ) async throws -> Int {
    var attempts = 0
    for _ in 0..<count {
      while true {
        attempts += 1
        let id = try await engine.begin()
        let before = try await engine.get("rooms/a", .transaction(id))?.fields["n"]
        let number: Int64 = if case .integer(let number)? = before { number } else { .min }
        try await meanwhile()
        if await failure({ try await engine.commit(update("rooms/a", ["n": .integer(number + 1)]), in: id) }) == nil {
          break
        }
      }
    }
    return attempts
  }

  private static let increment = Write.update(
    Document(name: name("rooms/a")), mask: DocumentMask(fieldPaths: []),
    transforms: [FieldTransform(fieldPath: "n", .increment(.integer(1)))])

  /// Every transaction meets a plain write of its document, and none has to begin twice.
  @Test func `forty transactions begin forty times, alone and each with a plain write of its document`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(0)]))
    #expect(try await Self.transactions(40, on: engine) == 40)
    let pool = try await engine.engine(database).transactions
    let beside = try await withThrowingTaskGroup(of: Void.self) { group in
      let attempts = try await Self.transactions(40, on: engine) {
        // The one of the transaction before may still be at its commit.
        while pool.waitingCount > 0 { await Task.yield() }
        group.addTask { try await engine.commit(Self.increment) }
        while pool.waitingCount == 0 { await Task.yield() }
      }
      try await group.waitForAll()
      return attempts
    }
    #expect(beside == 40)
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(120))
  }

  /// A range in the order of names, over a collection of five times as many documents.
  @Test func `a range in another order reads the same rows in a small collection and in a large one`() async throws {
    var rows: [Int] = []
    for count in [600, 3_000] {
      let store = CountingStore()
      let engine = makeEngine(on: store)
      for start in stride(from: 0, to: count, by: 500) {
        let writes = (start..<min(start + 500, count)).map {
          update("rooms/\(10_000 + $0)", ["n": .integer(Int64($0))])
        }
        _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
      }
      let query = StructuredQuery(
        from: [.init(collectionID: "rooms")],
        filter: .field(path: "n", .greaterThanOrEqual, .integer(Int64(count - 20))),
        orderBy: [.init(fieldPath: "__name__")], limit: 20)
      for _ in 0..<4 {
        _ = try await engine.query(query)
        try await engine.engine(database).indexes.settle()
      }
      let (read, documents) = try await store.rows { try await engine.query(query) }
      #expect(documents.count == 20)
      rows.append(read.total)
    }
    // The entries of the range, their documents, and the turns that the walk by name takes in addition.
    #expect(rows[0] == rows[1] && rows[0] < 200, "\(rows)")
  }

  /// A result of 5,000 documents is begun and not received further.
  @Test func `a get and a set during a long result read as much as alone`() async throws {
    let store = CountingStore()
    let engine = makeEngine(on: store)
    for start in stride(from: 0, to: 5_000, by: 500) {
      let writes = (start..<start + 500).map { update("rooms/\(10_000 + $0)", ["n": .integer(Int64($0))]) }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
    func cost() async throws -> Int {
      try await store.rows {
        _ = try await engine.get("rooms/10001")
        try await engine.commit(update("rooms/10001", ["n": .integer(-1)]))
      }.rows.total
    }
    // A document that is read again and again is kept, up to its next change.
    for _ in 0..<4 { _ = try await cost() }
    let alone = try await cost()
    let (reached, go) = (Latch(), Latch())
    try await withThrowingTaskGroup(of: Void.self) { group in
      defer { go.open() }
      group.addTask {
        var isFirst = true
        try await engine.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: owner) { _ in
          guard isFirst else { return }
          isFirst = false
          reached.open()
          await go.wait()
        }
      }
      await reached.wait()
      #expect(try await cost() == alone)
      go.open()
      try await group.waitForAll()
    }
  }
}
