import VestaFirestoreBackend
import VestaFirestoreIndexes
import VestaFirestoreModel

/// Tells how queries are answered, in the shape of the service.
enum Explanation {
  /// The plan of a query that is not run.
  ///
  /// While an index is being made, what the plan will be; such an index has a `state`, `CREATING`.
  static func plan(of query: NormalQuery, in snapshot: Snapshot) async throws -> ExplainMetrics {
    guard let needs = QueryNeeds(query), let keeper = snapshot.indexes else { return ExplainMetrics(indexesUsed: []) }
    let catalogue = try await keeper.catalogue(in: snapshot.reader)
    let outcome = QueryPlanner(needs, catalogue, isForbidden: keeper.declared.forbid).outcome()
    if let plan = outcome.plan { return ExplainMetrics(indexesUsed: plan.shapes.map(text)) }
    return ExplainMetrics(
      indexesUsed: outcome.missing.map { shape in
        var index = text(shape)
        index["state"] = .string("CREATING")
        return index
      })
  }

  /// The metrics of a query that has been run.
  ///
  /// - Parameters:
  ///   - answer: The result.
  ///   - results: How many results were returned.
  static func metrics(of answer: QueryAnswer, results: Int, duration: Duration) -> ExplainMetrics {
    // A thousand entries cost as much as a document, where they are looked at for themselves.
    let isFiltered = answer.plan?.branches.contains { !$0.test.isEmpty } ?? false
    let entries = answer.read == 0 || isFiltered ? answer.scanned : 0
    let billed = answer.read + (entries + 999) / 1000
    let billing: MapValue = [
      "documents_billable": .string("\(answer.read)"), "index_entries_billable": .string("\(entries)"),
      "small_ops": .string("0"), "min_query_cost": .string(billed == 0 ? "1" : "0"),
    ]
    let statistics = ExecutionStats(
      resultsReturned: Int64(results), executionDuration: duration, readOperations: Int64(max(billed, 1)),
      debugStats: [
        "index_entries_scanned": .string("\(answer.scanned)"), "documents_scanned": .string("\(answer.read)"),
        "billing_details": .map(billing),
      ])
    return ExplainMetrics(indexesUsed: answer.plan?.shapes.map(text) ?? [], executionStats: statistics)
  }

  private static func text(_ shape: IndexShape?) -> MapValue {
    [
      "query_scope": .string(shape?.isGroup == true ? "Collection group" : "Collection"),
      "properties": .string(shape?.properties ?? "(__name__ ASC)"),
    ]
  }
}
