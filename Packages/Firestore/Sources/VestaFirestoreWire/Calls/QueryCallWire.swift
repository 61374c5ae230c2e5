public import VestaBytes
public import VestaFirestoreBackend

/// The statement of `google.firestore.v1.RunQueryRequest`.
public enum RunQueryRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: RunQueryRequest { RunQueryRequest(parent: "", query: QueryWire.empty) }

  /// Visits the fields.
  public static func visit(
    _ request: inout RunQueryRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "structuredQuery", &request.query, ProtobufMessage<QueryWire>.self)
    try visitor.consistency(&request.consistency, transaction: 5, newTransaction: 6, readTime: 7)
    try visitor.optional(10, "explainOptions", &request.explain, ProtobufMessage<ExplainOptionsWire>.self)
    try visitor.requestOptions(11)
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

/// The statement of `google.firestore.v1.RunAggregationQueryRequest`.
public enum RunAggregationRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: RunAggregationQueryRequest {
    RunAggregationQueryRequest(
      parent: "", query: StructuredAggregationQuery(query: QueryWire.empty, aggregations: []))
  }

  /// Visits the fields.
  public static func visit(
    _ request: inout RunAggregationQueryRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(
      2, "structuredAggregationQuery", &request.query, ProtobufConverted<AggregationQueryWire>.self)
    try visitor.consistency(&request.consistency, transaction: 4, newTransaction: 5, readTime: 6)
    try visitor.optional(8, "explainOptions", &request.explain, ProtobufMessage<ExplainOptionsWire>.self)
    try visitor.requestOptions(9)
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

/// The statement of `google.firestore.v1.PartitionQueryRequest`.
public enum PartitionQueryRequestWire: ProtobufSchema {
  /// No fields.
  public static var empty: PartitionQueryRequest {
    PartitionQueryRequest(parent: "", query: QueryWire.empty, partitionCount: 0)
  }

  /// Visits the fields.
  public static func visit(
    _ request: inout PartitionQueryRequest, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(1, "parent", &request.parent, ProtobufString.self)
    try visitor.field(2, "structuredQuery", &request.query, ProtobufMessage<QueryWire>.self)
    try visitor.field(3, "partitionCount", &request.partitionCount, ProtobufInt64.self)
    try visitor.field(4, "pageToken", &request.pageToken, ProtobufString.self)
    try visitor.field(5, "pageSize", &request.pageSize, ProtobufInt32.self)
    try visitor.optional(6, "readTime", &request.readTime, TimestampWire.self)
    try visitor.requestOptions(7)
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
