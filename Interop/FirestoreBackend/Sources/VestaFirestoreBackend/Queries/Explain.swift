/// A wish to know how a query is answered.
public struct ExplainOptions: Sendable, Hashable {
  /// Whether the query is run too: then the response has results and `executionStats`.
  public var analyze: Bool

  /// A wish to know the plan.
  public init(analyze: Bool = false) { self.analyze = analyze }
}

/// The plan of a query, and the cost of running it.
public struct ExplainMetrics: Sendable, Hashable {
  /// The indexes that are used: for each, properties such as `"query_scope"` and `"properties"`.
  public var indexesUsed: [MapValue]

  /// The figures of the run; `nil` for a query that was not run.
  public var executionStats: ExecutionStats?

  /// The plan of a query, and what it took.
  public init(indexesUsed: [MapValue], executionStats: ExecutionStats? = nil) {
    self.indexesUsed = indexesUsed
    self.executionStats = executionStats
  }
}

/// The figures of a run of a query.
public struct ExecutionStats: Sendable, Hashable {
  /// The number of results that were returned.
  public var resultsReturned: Int64

  /// The time that the query took.
  public var executionDuration: Duration

  /// The number of documents that were read.
  public var readOperations: Int64

  /// More figures, such as how many index entries were scanned.
  public var debugStats: MapValue

  /// The figures of a run of a query.
  public init(
    resultsReturned: Int64, executionDuration: Duration, readOperations: Int64, debugStats: MapValue = [:]
  ) {
    self.resultsReturned = resultsReturned
    self.executionDuration = executionDuration
    self.readOperations = readOperations
    self.debugStats = debugStats
  }
}
