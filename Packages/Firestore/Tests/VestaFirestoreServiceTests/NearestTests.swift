import Testing
import VestaFirestoreBackend
import VestaFirestoreReference
import VestaTesting

@testable import VestaFirestoreService

struct NearestTests {
  @Test(arguments: [UInt64(71), 72])
  func `the nearest among the filtered are found through an index`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let store = CountingStore()
    let engine = makeEngine(on: store)
    let reference = ReferenceBackend()
    for number in 0..<400 {
      let vector = (0..<3).map { _ in Double(Int.random(in: -4...4, using: &data)) }
      var fields: MapValue = ["kind": .integer(Int64(number % 8)), "v": .vector(vector)]
      if number % 16 == 3 { fields["v"] = data.pick([nil, .vector([1, 2]), .array([.double(1)]), .string("no")]) }
      let write = update("rooms/\(number)", fields)
      try await engine.commit(write)
      try await reference.commit(write)
    }
    for measure in [FindNearest.DistanceMeasure.euclidean, .cosine, .dotProduct] {
      for limit in [Int32(1), 7, 200] {
        var query = StructuredQuery.all("rooms")
        query.filter = .field(path: "kind", .equal, .integer(3))
        query.findNearest = FindNearest(
          vectorField: "v", queryVector: .vector([1, 2, -1]), distanceMeasure: measure, limit: limit,
          distanceResultField: "distance", distanceThreshold: data.pick([nil, 2]))
        _ = try await engine.query(query)
        try await engine.engine(database).indexes.settle()
        let (rows, found) = try await store.rows { try await engine.query(query) }
        let expected = try await reference.query(query)
        #expect(found.map { "\($0.name) \($0.fields)" } == expected.map { "\($0.name) \($0.fields)" }, "seed \(seed)")
        #expect(rows.total <= 2 * 50 + 20, "\(rows)")
      }
    }
  }

  @Test func `explanations have the shape of the service`() async throws {
    let engine = makeEngine()
    for number in 0..<40 {
      try await engine.commit(
        update("rooms/\(number)", ["n": .integer(Int64(number)), "k": .integer(Int64(number % 4))]))
    }
    var query = StructuredQuery(
      from: [.init(collectionID: "rooms")], filter: .field(path: "k", .equal, .integer(1)),
      orderBy: [.init(fieldPath: "n", .descending)], limit: 3)
    func explained(_ analyze: Bool) async throws -> ExplainMetrics {
      var metrics: ExplainMetrics?
      let request = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: analyze))
      try await engine.runQuery(request, context: owner) { metrics = $0.explainMetrics ?? metrics }
      return try #require(metrics)
    }
    let planned: [MapValue] = [
      ["query_scope": .string("Collection"), "properties": .string("(k ASC, n ASC, __name__ ASC)")]
    ]
    var made = planned
    made[0]["state"] = .string("CREATING")
    #expect(try await explained(false) == ExplainMetrics(indexesUsed: made))
    _ = try await explained(true)
    try await engine.engine(database).indexes.settle()
    #expect(try await explained(false) == ExplainMetrics(indexesUsed: planned))
    let metrics = try await explained(true)
    #expect(metrics.indexesUsed == planned)
    #expect(metrics.executionStats?.resultsReturned == 3)
    #expect(metrics.executionStats?.readOperations == 3)
    let billing: MapValue = [
      "documents_billable": .string("3"), "index_entries_billable": .string("0"), "small_ops": .string("0"),
      "min_query_cost": .string("0"),
    ]
    #expect(
      metrics.executionStats?.debugStats == [
        "documents_scanned": .string("3"), "index_entries_scanned": .string("3"), "billing_details": .map(billing),
      ])

    query.limit = nil
    let request = RunAggregationQueryRequest(
      parent: root, query: .init(query: query, aggregations: [Aggregation(.count(upTo: nil))]),
      explain: ExplainOptions(analyze: true))
    let figures = try await engine.runAggregation(request, context: owner)
    #expect(figures.explainMetrics?.indexesUsed == planned)
    #expect(figures.explainMetrics?.executionStats?.readOperations == 1)
    #expect(figures.explainMetrics?.executionStats?.debugStats["index_entries_scanned"] == .string("10"))
  }
}
