import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

extension DatabaseCall {
  /// Runs a query and hands the results over, all of one version, in pages.
  ///
  /// A page is read, the store is left, and the page is handed out; the next one begins after its last result, at the
  /// same version. So whoever takes the results slowly holds nobody up and pins nothing.
  func runQuery(_ request: RunQueryRequest, receive: (RunQueryResponse) async throws -> Void) async throws {
    var query = try NormalQuery(request.query, parent: request.parent)
    let start = ContinuousClock.now
    let scope = ChangeScope(query)
    let isPlanned = request.explain.map { !$0.analyze } ?? false
    typealias First = (page: QueryAnswer, metrics: ExplainMetrics?, context: KeptContext)
    let (page, metrics, context) = try await reading(request.consistency, scope) { context -> First in
      try await indexes.check(query, in: context.snapshot.reader)
      context.note(query)
      if isPlanned {
        return (QueryAnswer(), try await Explanation.plan(of: query, in: context.snapshot), context.kept)
      }
      let answer = try await QueryRunner(query: query, snapshot: context.snapshot).page(.first)
      return (answer, nil, context.kept)
    }
    if let id = context.newTransaction {
      try checkDeadline(beginning: id)
      try await receive(RunQueryResponse(transaction: id))
    }
    if let metrics {
      try checkDeadline()
      return try await receive(RunQueryResponse(readTime: context.readTime, done: true, explainMetrics: metrics))
    }
    var answer = page
    if answer.skipped > 0 || answer.documents.isEmpty {
      try checkDeadline()
      try await receive(RunQueryResponse(readTime: context.readTime, skippedResults: Int32(clamping: answer.skipped)))
    }
    var total = QueryAnswer(plan: answer.plan)
    var results = 0
    let pace = ReadingPace()
    while true {
      total.read += answer.read
      total.scanned += answer.scanned
      results += answer.documents.count
      for document in answer.documents {
        await pace.read(1)
        try checkDeadline()
        try await receive(RunQueryResponse(document: query.projected(document), readTime: context.readTime))
      }
      guard !answer.isLast, let last = answer.documents.last else { break }
      query = query.continued(after: last, count: answer.documents.count)
      let next = query
      try checkDeadline()
      answer = try await engine.reading(version: context.version, scope) { snapshot in
        try await QueryRunner(query: next, snapshot: timed(snapshot)).page(.next)
      }
    }
    guard request.explain != nil else { return }
    try checkDeadline()
    let figures = Explanation.metrics(of: total, results: results, duration: .now - start)
    try await receive(RunQueryResponse(readTime: context.readTime, done: true, explainMetrics: figures))
  }

  /// Counts, sums and averages.
  func runAggregation(_ request: RunAggregationQueryRequest) async throws -> RunAggregationQueryResponse {
    let query = try NormalQuery(request.query.query, parent: request.parent)
    let aggregator = try Aggregator(request.query.aggregations)
    return try await reading(request.consistency, ChangeScope(query)) { context in
      try await indexes.check(query, figures: aggregator.fields, in: context.snapshot.reader)
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
