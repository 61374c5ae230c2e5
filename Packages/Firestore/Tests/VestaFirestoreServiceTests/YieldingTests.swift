import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreService

/// Long calls let other tasks run: on one thread, where a task that does not suspend holds up all others.
struct YieldingTests {
  private static let count = 5_000

  private static func filled() async throws -> FirestoreEngine {
    let engine = makeEngine()
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

  @Test(arguments: [
    "all documents", "a scan", "many documents by name", "a sum", "a count", "a count, until a deadline",
  ])
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
        let context = name.hasSuffix("deadline") ? owner.limited(to: .seconds(3600), by: .system) : owner
        _ = try await engine.runAggregation(request, context: context)
      }
    }
    #expect(visits >= Self.count / ReadingPace.rows, "\(visits)")
  }

  @Test func `nobody else runs during a call that reads few rows`() async throws {
    let visits = try await Self.visits { engine in
      var query = StructuredQuery.all("rooms")
      query.limit = 20
      let found = try await engine.query(query)
      #expect(found.count == 20)
    }
    #expect(visits == 0)
  }
}
