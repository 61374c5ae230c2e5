import FirestoreInterop
import FirestoreModel

extension DatabaseEngine {
  /// Runs a query and hands the results over at one moment.
  func runQuery(_ request: RunQueryRequest, receive: (RunQueryResponse) async throws -> Void) async throws {
    let query = try NormalQuery(request.query, parent: request.parent)
    try await reading(request.consistency) { context in
      if let id = context.newTransaction { try await receive(RunQueryResponse(transaction: id)) }
      context.note(query)
      let readTime = context.snapshot.readTime
      if let explain = request.explain, !explain.analyze {
        let metrics = ExplainMetrics(indexesUsed: QueryPlan(query).map(Self.explanation) ?? [])
        try await receive(RunQueryResponse(readTime: readTime, done: true, explainMetrics: metrics))
        return
      }
      let start = ContinuousClock.now
      let answer = try await QueryRunner(query: query, snapshot: context.snapshot).answer()
      if answer.skipped > 0 || answer.documents.isEmpty {
        try await receive(RunQueryResponse(readTime: readTime, skippedResults: Int32(clamping: answer.skipped)))
      }
      for document in answer.documents {
        try await receive(RunQueryResponse(document: query.projected(document), readTime: readTime))
      }
      guard request.explain != nil else { return }
      let metrics = Self.metrics(of: answer, duration: .now - start)
      try await receive(RunQueryResponse(readTime: readTime, done: true, explainMetrics: metrics))
    }
  }

  private static func explanation(_ plan: QueryPlan) -> [MapValue] {
    Array(Set(plan.shapes)).map { shape in
      [
        "query_scope": .string(shape.isGroup ? "Collection group" : "Collection"),
        "properties": .string(shape.properties),
      ]
    }
  }

  private static func metrics(of answer: QueryAnswer, duration: ContinuousClock.Duration) -> ExplainMetrics {
    let statistics = ExecutionStats(
      resultsReturned: Int64(answer.documents.count), executionDuration: duration, readOperations: Int64(answer.read),
      debugStats: ["index_entries_scanned": .string("\(answer.scanned)")])
    return ExplainMetrics(indexesUsed: answer.plan.map(explanation) ?? [], executionStats: statistics)
  }

  /// Counts, sums and averages.
  func runAggregation(_ request: RunAggregationQueryRequest) async throws -> RunAggregationQueryResponse {
    let query = try NormalQuery(request.query.query, parent: request.parent)
    var aggregator = try Aggregator(request.query.aggregations)
    return try await reading(request.consistency) { context in
      context.note(query)
      let answer = try await QueryRunner(query: query, snapshot: context.snapshot).answer()
      for document in answer.documents { aggregator.add(document) }
      return RunAggregationQueryResponse(
        result: aggregator.result, transaction: context.newTransaction, readTime: context.snapshot.readTime)
    }
  }
}
