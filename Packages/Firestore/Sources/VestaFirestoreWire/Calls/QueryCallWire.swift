public import VestaBytes
public import VestaFirestoreBackend

/// The conversion of `google.firestore.v1.RunQueryRequest`, which has to have a query.
public enum RunQueryRequestWire: ProtobufConversion {
  /// The fields.
  public typealias Parts = (request: RunQueryRequest, query: StructuredQuery?)

  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: Parts { (RunQueryRequest(parent: "", query: QueryWire.empty), nil) }

    /// Visits the fields.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "parent", &parts.request.parent, ProtobufString.self)
      try visitor.optional(2, "structuredQuery", &parts.query, ProtobufMessage<QueryWire>.self)
      try visitor.consistency(&parts.request.consistency, transaction: 5, newTransaction: 6, readTime: 7)
      try visitor.optional(10, "explainOptions", &parts.request.explain, ProtobufMessage<ExplainOptionsWire>.self)
      try visitor.requestOptions(11)
    }
  }

  /// The fields of a request.
  public static func parts(of request: RunQueryRequest) -> Parts { (request, request.query) }

  /// The request of fields.
  public static func value(of parts: Parts) throws(BytesError) -> RunQueryRequest {
    guard let query = parts.query else { throw BytesError(.malformed, "the request has no query") }
    var request = parts.request
    request.query = query
    return request
  }
}

/// The statement of `google.firestore.v1.RunQueryResponse`.
public enum RunQueryResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: RunQueryResponse { RunQueryResponse() }

  /// Visits the fields.
  public static func visit(
    _ response: inout RunQueryResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.optional(1, "document", &response.document, ProtobufMessage<DocumentWire>.self)
    try visitor.token(2, "transaction", &response.transaction)
    try visitor.optional(3, "readTime", &response.readTime, TimestampWire.self)
    try visitor.field(4, "skippedResults", &response.skippedResults, ProtobufInt32.self)
    try visitor.field(6, "done", &response.done, ProtobufBool.self)
    try visitor.optional(11, "explainMetrics", &response.explainMetrics, ProtobufMessage<ExplainMetricsWire>.self)
  }
}

/// The conversion of `google.firestore.v1.RunAggregationQueryRequest`, which has to have a query.
public enum RunAggregationRequestWire: ProtobufConversion {
  /// The fields.
  public typealias Parts = (request: RunAggregationQueryRequest, query: StructuredAggregationQuery?)

  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: Parts {
      (
        RunAggregationQueryRequest(
          parent: "", query: StructuredAggregationQuery(query: QueryWire.empty, aggregations: [])), nil
      )
    }

    /// Visits the fields.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "parent", &parts.request.parent, ProtobufString.self)
      try visitor.optional(2, "structuredAggregationQuery", &parts.query, ProtobufConverted<AggregationQueryWire>.self)
      try visitor.consistency(&parts.request.consistency, transaction: 4, newTransaction: 5, readTime: 6)
      try visitor.optional(8, "explainOptions", &parts.request.explain, ProtobufMessage<ExplainOptionsWire>.self)
      try visitor.requestOptions(9)
    }
  }

  /// The fields of a request.
  public static func parts(of request: RunAggregationQueryRequest) -> Parts { (request, request.query) }

  /// The request of fields.
  public static func value(of parts: Parts) throws(BytesError) -> RunAggregationQueryRequest {
    guard let query = parts.query else { throw BytesError(.malformed, "the request has no query") }
    var request = parts.request
    request.query = query
    return request
  }
}

/// The statement of `google.firestore.v1.RunAggregationQueryResponse`.
public enum RunAggregationResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: RunAggregationQueryResponse { RunAggregationQueryResponse(result: nil) }

  /// Visits the fields.
  public static func visit(
    _ response: inout RunAggregationQueryResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.optional(1, "result", &response.result, ProtobufMessage<AggregationResultWire>.self)
    try visitor.token(2, "transaction", &response.transaction)
    try visitor.optional(3, "readTime", &response.readTime, TimestampWire.self)
    try visitor.optional(10, "explainMetrics", &response.explainMetrics, ProtobufMessage<ExplainMetricsWire>.self)
  }
}

/// The conversion of `google.firestore.v1.PartitionQueryRequest`, which has to have a query.
public enum PartitionQueryRequestWire: ProtobufConversion {
  /// The fields.
  public typealias Parts = (request: PartitionQueryRequest, query: StructuredQuery?)

  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: Parts {
      (PartitionQueryRequest(parent: "", query: QueryWire.empty, partitionCount: 0), nil)
    }

    /// Visits the fields.
    public static func visit(_ parts: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.field(1, "parent", &parts.request.parent, ProtobufString.self)
      try visitor.optional(2, "structuredQuery", &parts.query, ProtobufMessage<QueryWire>.self)
      try visitor.field(3, "partitionCount", &parts.request.partitionCount, ProtobufInt64.self)
      try visitor.field(4, "pageToken", &parts.request.pageToken, ProtobufString.self)
      try visitor.field(5, "pageSize", &parts.request.pageSize, ProtobufInt32.self)
      try visitor.optional(6, "readTime", &parts.request.readTime, TimestampWire.self)
      try visitor.requestOptions(7)
    }
  }

  /// The fields of a request.
  public static func parts(of request: PartitionQueryRequest) -> Parts { (request, request.query) }

  /// The request of fields.
  public static func value(of parts: Parts) throws(BytesError) -> PartitionQueryRequest {
    guard let query = parts.query else { throw BytesError(.malformed, "the request has no query") }
    var request = parts.request
    request.query = query
    return request
  }
}

/// The statement of `google.firestore.v1.PartitionQueryResponse`.
public enum PartitionQueryResponseWire: ProtobufSchema {
  /// No fields.
  public static var empty: PartitionQueryResponse { PartitionQueryResponse(partitions: []) }

  /// Visits the fields.
  public static func visit(
    _ response: inout PartitionQueryResponse, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "partitions", &response.partitions, ProtobufMessage<CursorWire>.self)
    try visitor.field(2, "nextPageToken", &response.nextPageToken, ProtobufString.self)
  }
}
