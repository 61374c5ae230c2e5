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
      let (documents, skipped, _) = try await QueryScan(query: query, snapshot: context.snapshot).results()
      if skipped > 0 || documents.isEmpty {
        try await receive(RunQueryResponse(readTime: readTime, skippedResults: Int32(clamping: skipped)))
      }
      for document in documents {
        try await receive(RunQueryResponse(document: query.projected(document), readTime: readTime))
      }
    }
  }

  /// Counts, sums and averages.
  func runAggregation(_ request: RunAggregationQueryRequest) async throws -> RunAggregationQueryResponse {
    let query = try NormalQuery(request.query.query, parent: request.parent)
    var aggregator = try Aggregator(request.query.aggregations)
    return try await reading(request.consistency) { context in
      context.note(query)
      let (documents, _, _) = try await QueryScan(query: query, snapshot: context.snapshot).results()
      for document in documents { aggregator.add(document) }
      return RunAggregationQueryResponse(
        result: aggregator.result, transaction: context.newTransaction, readTime: context.snapshot.readTime)
    }
  }
}
