import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Long calls let other tasks run: on one thread, where a task that does not suspend holds up all others.
struct YieldingTests {
  private static let count = 5_000

  private static func filled(_ clock: ManualClock = ManualClock()) async throws -> FirestoreEngine {
    let engine = makeEngine(clock)
    for start in stride(from: 0, to: count, by: 500) {
      let writes = (start..<start + 500).map { update("rooms/\(10_000 + $0)", ["n": .integer(Int64($0))]) }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
    return engine
  }

  /// How often another task runs on the only thread while a call is under way.
  private static func visits(during call: @escaping @Sendable (FirestoreEngine) async throws -> Void) async throws
    -> Int
  {
    let engine = try await filled()
    return try await OneThread.visits { try await call(engine) }
  }

  /// A query that no index can answer: it looks at each document.
  private static let scan = StructuredQuery(
    from: [.init(collectionID: "rooms")], filter: .field(path: "n", .notIn, .array([.integer(1), .integer(2)])),
    orderBy: [.init(fieldPath: "n")])

  @Test(arguments: ["all documents", "a scan", "many documents by name", "a sum", "a count"])
  func `others run during`(_ name: String) async throws {
    let visits = try await Self.visits { engine in
      switch name {
      case "all documents": #expect(try await engine.query(.all("rooms")).count == Self.count)
      case "a scan": #expect(try await engine.query(Self.scan).count == Self.count - 2)
      case "many documents by name":
        let names = (0..<Self.count).map { "\(root)/rooms/\(10_000 + $0)" }
        let request = BatchGetDocumentsRequest(database: database, documents: names)
        try await engine.batchGet(request, context: owner) { _ in }
      default:
        let kind: Aggregation.Operation = name == "a sum" ? .sum(fieldPath: "n") : .count(upTo: nil)
        let counting = StructuredAggregationQuery(query: Self.scan, aggregations: [Aggregation(kind, alias: "n")])
        let request = RunAggregationQueryRequest(parent: root, query: counting)
        _ = try await engine.runAggregation(request, context: owner)
      }
    }
    #expect(visits >= Self.count / ReadingPace.rows, "\(visits)")
  }

  @Test func `others run during a look at many documents for few`() async throws {
    let visits = try await Self.visits { engine in
      var query = Self.scan
      query.limit = 2
      query.offset = 4_000
      let found = try await engine.query(query)
      #expect(found.count == 2)
    }
    #expect(visits >= 4)
  }

  @Test func `others run while entries are counted`() async throws {
    let visits = try await Self.visits { engine in
      let count = StructuredAggregationQuery(
        query: .all("rooms"), aggregations: [Aggregation(.count(upTo: nil), alias: "n")])
      _ = try await engine.runAggregation(RunAggregationQueryRequest(parent: root, query: count), context: owner)
    }
    #expect(visits >= 2)
  }

  @Test func `a reader that looks at a deadline is read in pieces too`() async throws {
    try await ModelStore().read { reader in
      #expect(CheckedReader(base: reader, rowsBetweenChecks: 256, check: {}).yielding is YieldingReader)
    }
  }

  /// Runs a call on one thread, and something else there when the call first lets others run after its first result.
  private static func play(
    _ engine: FirestoreEngine, _ name: String, _ context: CallContext, meanwhile: @escaping @Sendable () async -> Void
  ) async -> (code: ServiceCode?, before: Int, after: Int) {
    let (counts, isOver, hasRun) = (Locked((before: 0, after: 0)), Locked(false), Locked(false))
    let receive: @Sendable () -> Void = {
      let isAfter = hasRun.withLock { $0 }
      counts.withLock { if isAfter { $0.after += 1 } else { $0.before += 1 } }
    }
    let (code, _) = await OneThread.run { () -> ServiceCode? in
      defer { isOver.withLock { $0 = true } }
      let error = await failure {
        if name == "a query" {
          try await engine.runQuery(RunQueryRequest(parent: root, query: .all("rooms")), context: context) {
            if $0.document != nil { receive() }
          }
        } else {
          let names = (0..<Self.count).map { "\(root)/rooms/\(10_000 + $0)" }
          let request = BatchGetDocumentsRequest(database: database, documents: names)
          try await engine.batchGet(request, context: context) { _ in receive() }
        }
      }
      return error?.code
    } beside: {
      while counts.withLock({ $0.before }) == 0, !isOver.withLock({ $0 }) { await Task.yield() }
      hasRun.withLock { $0 = true }
      await meanwhile()
    }
    let (before, after) = counts.withLock { $0 }
    return (code, before, after)
  }

  @Test(arguments: ["a query", "many documents by name"])
  func `nothing is handed out after a deadline that passed while others ran`(_ name: String) async throws {
    let clock = ManualClock()
    let engine = try await Self.filled(clock)
    let context = owner.limited(to: .seconds(1), by: clock.service)
    let (code, before, after) = await Self.play(engine, name, context) { clock.advance(by: .seconds(1)) }
    #expect(code == .deadlineExceeded)
    #expect(before == ReadingPace.rows - 1 && after == 0, "\(before), \(after)")
  }

  @Test(arguments: ["a query", "many documents by name"])
  func `a call during which the engine is closed ends, and no caller waits for it forever`(_ name: String) async throws
  {
    let engine = try await Self.filled()
    let (code, before, after) = await Self.play(engine, name, owner) { try? await engine.close() }
    #expect(code != nil || before + after == Self.count, "\(String(describing: code)), \(before), \(after)")
  }

  @Test(arguments: ["a query", "many documents by name"])
  func `what is committed while a call lets others run is not in its results`(_ name: String) async throws {
    let engine = try await Self.filled()
    let (code, before, after) = await Self.play(engine, name, owner) {
      let writes = (0..<Self.count).map { Write.delete(VestaFirestoreServiceTests.name("rooms/\(10_000 + $0)")) }
      for start in stride(from: 0, to: Self.count, by: 500) {
        let request = CommitRequest(database: database, writes: Array(writes[start..<start + 500]))
        _ = try? await engine.commit(request, context: owner)
      }
    }
    #expect(code == nil && before + after == Self.count, "\(String(describing: code)), \(before), \(after)")
  }

  @Test func `no other task runs during a call that reads few rows`() async throws {
    let visits = try await Self.visits { engine in
      var query = StructuredQuery.all("rooms")
      query.limit = 20
      let found = try await engine.query(query)
      #expect(found.count == 20)
    }
    #expect(visits == 0)
  }
}
