import VestaFirestoreBackend
import VestaFirestoreModel

extension DatabaseEngine {
  /// Runs a query and hands the results over at one moment.
  func runQuery(_ request: RunQueryRequest, receive: (RunQueryResponse) async throws -> Void) async throws {
    let query = try NormalQuery(request.query, parent: request.parent)
    try await reading(request.consistency) { context in
      try await indexes.check(query, context.snapshot)
      if let id = context.newTransaction { try await receive(RunQueryResponse(transaction: id)) }
      context.note(query)
      let readTime = context.snapshot.readTime
      if let explain = request.explain, !explain.analyze {
        let metrics = try await Explanation.plan(of: query, in: context.snapshot)
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
      let metrics = Explanation.metrics(of: answer, results: answer.documents.count, duration: .now - start)
      try await receive(RunQueryResponse(readTime: readTime, done: true, explainMetrics: metrics))
    }
  }

  /// Counts, sums and averages.
  func runAggregation(_ request: RunAggregationQueryRequest) async throws -> RunAggregationQueryResponse {
    let query = try NormalQuery(request.query.query, parent: request.parent)
    let aggregator = try Aggregator(request.query.aggregations)
    return try await reading(request.consistency) { context in
      try await indexes.check(query, figures: aggregator.fields, context.snapshot)
      context.note(query)
      var response = RunAggregationQueryResponse(
        result: nil, transaction: context.newTransaction, readTime: context.snapshot.readTime)
      let runner = AggregationRunner(query: query, figures: aggregator, snapshot: context.snapshot)
      if let explain = request.explain, !explain.analyze {
        response.explainMetrics = try await Explanation.plan(of: runner.planned, in: context.snapshot)
        return response
      }
      let start = ContinuousClock.now
      let (result, answer) = try await runner.answer()
      response.result = result
      if request.explain != nil {
        response.explainMetrics = Explanation.metrics(of: answer, results: 1, duration: .now - start)
      }
      return response
    }
  }
}
