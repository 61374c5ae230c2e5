/// Runs a query.
public struct RunQueryRequest: Sendable, Hashable {
  /// The parent of the collections: `…/documents`, or a document.
  public var parent: String

  /// The query.
  public var query: StructuredQuery

  /// The read time, or the transaction.
  public var consistency: ReadConsistency

  /// Asks for the plan; `nil` for results alone.
  public var explain: ExplainOptions?

  /// A query to run.
  public init(
    parent: String, query: StructuredQuery, consistency: ReadConsistency = .latest, explain: ExplainOptions? = nil
  ) {
    self.parent = parent
    self.query = query
    self.consistency = consistency
    self.explain = explain
  }
}

/// One result of a query, or a message about it.
///
/// Each document has a separate response. A query without results has one response, with a read time only.
public struct RunQueryResponse: Sendable, Hashable {
  /// A result.
  public var document: Document?

  /// The transaction that the call has begun; in the first response only, which then has nothing else.
  public var transaction: [UInt8]?

  /// The read time; it never decreases within a call.
  public var readTime: Timestamp?

  /// The number of results that `offset` has left out since the response before.
  public var skippedResults: Int32

  /// Whether this is the last response.
  ///
  /// Not every backend says so.
  public var done: Bool

  /// The plan; in the last response, where it was asked for.
  public var explainMetrics: ExplainMetrics?

  /// A response of a query.
  public init(
    document: Document? = nil,
    transaction: [UInt8]? = nil,
    readTime: Timestamp? = nil,
    skippedResults: Int32 = 0,
    done: Bool = false,
    explainMetrics: ExplainMetrics? = nil
  ) {
    self.document = document
    self.transaction = transaction
    self.readTime = readTime
    self.skippedResults = skippedResults
    self.done = done
    self.explainMetrics = explainMetrics
  }
}

/// Asks for figures about the results of a query.
public struct RunAggregationQueryRequest: Sendable, Hashable {
  /// The parent of the collections: `…/documents`, or a document.
  public var parent: String

  /// The query and the figures.
  public var query: StructuredAggregationQuery

  /// The read time, or the transaction.
  public var consistency: ReadConsistency

  /// Asks for the plan; `nil` for results alone.
  public var explain: ExplainOptions?

  /// A query for figures.
  public init(
    parent: String,
    query: StructuredAggregationQuery,
    consistency: ReadConsistency = .latest,
    explain: ExplainOptions? = nil
  ) {
    self.parent = parent
    self.query = query
    self.consistency = consistency
    self.explain = explain
  }
}

/// The figures about the results of a query.
public struct RunAggregationQueryResponse: Sendable, Hashable {
  /// The figures by alias; `nil` where only the plan was asked for.
  public var result: MapValue?

  /// The transaction that the call has begun.
  public var transaction: [UInt8]?

  /// The read time.
  public var readTime: Timestamp?

  /// The plan, where it was asked for.
  public var explainMetrics: ExplainMetrics?

  /// The figures about a query.
  public init(
    result: MapValue?,
    transaction: [UInt8]? = nil,
    readTime: Timestamp? = nil,
    explainMetrics: ExplainMetrics? = nil
  ) {
    self.result = result
    self.transaction = transaction
    self.readTime = readTime
    self.explainMetrics = explainMetrics
  }
}

/// Splits a query into parts that can run side by side.
public struct PartitionQueryRequest: Sendable, Hashable {
  /// `…/documents`.
  public var parent: String

  /// The query: a collection with all its descendants, ordered by name, without filters, cursors and limits.
  public var query: StructuredQuery

  /// The maximum number of cursors: one less than the number of parts.
  public var partitionCount: Int64

  /// The maximum number of cursors in one response; zero for all.
  public var pageSize: Int32

  /// The token of the page before; empty for the first page.
  public var pageToken: String

  /// The read time; `nil` for the latest version.
  public var readTime: Timestamp?

  /// A request for the parts of a query.
  public init(
    parent: String,
    query: StructuredQuery,
    partitionCount: Int64,
    pageSize: Int32 = 0,
    pageToken: String = "",
    readTime: Timestamp? = nil
  ) {
    self.parent = parent
    self.query = query
    self.partitionCount = partitionCount
    self.pageSize = pageSize
    self.pageToken = pageToken
    self.readTime = readTime
  }
}

/// The cursors that divide the parts of a query.
public struct PartitionQueryResponse: Sendable, Hashable {
  /// Cursors in order: each ends one part and starts the next.
  ///
  /// There may be fewer than were asked for, or none.
  public var partitions: [StructuredQuery.Cursor]

  /// The token of the next page; empty after the last one.
  public var nextPageToken: String

  /// The cursors that divide the parts of a query.
  public init(partitions: [StructuredQuery.Cursor], nextPageToken: String = "") {
    self.partitions = partitions
    self.nextPageToken = nextPageToken
  }
}
