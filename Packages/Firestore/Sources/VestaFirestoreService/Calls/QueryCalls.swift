import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

extension FirestoreCall {
  /// Runs a query and hands the results over, all of one version, in pages.
  ///
  /// A page is read, the store is left, and the page is handed out; the next one begins after its last result, at the
  /// same version. So a slow consumer delays no other caller and pins nothing.
  func runQuery(_ request: RunQueryRequest, receive: (RunQueryResponse) async throws -> Void) async throws {
    let query = try NormalQuery(request.query, parent: request.parent)
    let start = ContinuousClock.now
    let scope = ChangeScope(query)
    let isPlanned = request.explain.map { !$0.analyze } ?? false
    typealias First = (page: QueryPage?, metrics: ExplainMetrics?, context: KeptContext)
    let guarded = guarded
    let (first, metrics, context) = try await reading(request.consistency, scope) { context -> First in
      try await guarded?.list(query.parent, request.query, SnapshotState(snapshot: context.snapshot))
      try await indexes.check(query, in: context.snapshot.reader)
      context.note(query)
      if isPlanned {
        return (nil, try await Explanation.plan(of: query, in: context.snapshot), context.kept)
      }
      let page = try await QueryRunner(query: query, snapshot: context.snapshot).page(options.tuning.queries.firstPage)
      return (page, nil, context.kept)
    }
    if let id = context.newTransaction {
      try checkDeadline(beginning: id)
      try await receive(RunQueryResponse(transaction: id))
    }
    guard var page = first else {
      try checkDeadline()
      return try await receive(RunQueryResponse(readTime: context.readTime, done: true, explainMetrics: metrics))
    }
    var total = QueryAnswer()
    // The results that the offset leaves out are counted in the response that follows them.
    var (results, untold, isSilent) = (0, 0, true)
    let pace = ReadingPace()
    while true {
      total.append(QueryAnswer(read: page.answer.read, scanned: page.answer.scanned, plan: page.answer.plan))
      untold += page.answer.skipped
      results += page.answer.documents.count
      for document in page.answer.documents {
        if untold > 0 { try await tell(skipped: &untold, context.readTime, receive) }
        await pace.read(1)
        try checkDeadline()
        try await receive(RunQueryResponse(document: query.projected(document), readTime: context.readTime))
        isSilent = false
      }
      guard case .after(let position) = page.rest else { break }
      try checkDeadline()
      page = try await indexes.inTurn(position) {
        try await engine.reading(version: context.version, scope) { snapshot in
          try await QueryRunner(position, snapshot: timed(snapshot)).page(options.tuning.queries.nextPage)
        }
      }
    }
    if untold > 0 || isSilent { try await tell(skipped: &untold, context.readTime, receive) }
    guard request.explain != nil else { return }
    try checkDeadline()
    let figures = Explanation.metrics(of: total, results: results, duration: .now - start)
    try await receive(RunQueryResponse(readTime: context.readTime, done: true, explainMetrics: figures))
  }

  /// Hands over the number of results that were left out; an answer without results has this response alone.
  private func tell(
    skipped: inout Int, _ readTime: Timestamp, _ receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try checkDeadline()
    try await receive(RunQueryResponse(readTime: readTime, skippedResults: Int32(clamping: skipped)))
    skipped = 0
  }

  /// Counts, sums and averages.
  func runAggregation(_ request: RunAggregationQueryRequest) async throws -> RunAggregationQueryResponse {
    let aggregator = try Aggregator(request.query.aggregations)
    let query = try aggregator.query(request.query.query, parent: request.parent)
    let guarded = guarded
    return try await reading(request.consistency, ChangeScope(query)) { context in
      try await guarded?.list(query.parent, request.query.query, SnapshotState(snapshot: context.snapshot))
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
