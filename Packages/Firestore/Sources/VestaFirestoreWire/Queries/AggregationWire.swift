public import VestaBytes
public import VestaFirestoreBackend

/// The conversion of `google.firestore.v1.StructuredAggregationQuery`.
public enum AggregationQueryWire: ProtobufConversion {
  /// The statement.
  public enum Schema: ProtobufSchema {
    /// No fields.
    public static var empty: (query: StructuredQuery?, aggregations: [Aggregation]) { (nil, []) }

    /// Visits the fields.
    public static func visit(
      _ parts: inout (query: StructuredQuery?, aggregations: [Aggregation]), _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.optional(1, "structuredQuery", &parts.query, ProtobufMessage<QueryWire>.self)
      try visitor.repeated(3, "aggregations", &parts.aggregations, ProtobufConverted<AggregationWire>.self)
    }
  }

  /// The fields of a query.
  public static func parts(
    of query: StructuredAggregationQuery
  ) -> (query: StructuredQuery?, aggregations: [Aggregation]) {
    (query.query, query.aggregations)
  }

  /// The query of fields.
  public static func value(
    of parts: (query: StructuredQuery?, aggregations: [Aggregation])
  ) throws(BytesError) -> StructuredAggregationQuery {
    guard let query = parts.query else { throw BytesError(.malformed, "an aggregation query has no query") }
    return StructuredAggregationQuery(query: query, aggregations: parts.aggregations)
  }
}

/// The conversion of `Aggregation`.
private enum AggregationWire: ProtobufConversion {
  enum Schema: ProtobufSchema {
    static var empty: (operation: Aggregation.Operation?, alias: String) { (nil, "") }

    static func visit(
      _ parts: inout (operation: Aggregation.Operation?, alias: String), _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.choice(1, "count", &parts.operation, ProtobufMessage<CountWire>.self) {
        if case .count(let limit)? = $0 { .some(limit) } else { nil }
      } embed: {
        .count(upTo: $0)
      }
      try visitor.choice(2, "sum", &parts.operation, ProtobufMessage<OperandWire>.self) {
        if case .sum(let path)? = $0 { path } else { nil }
      } embed: {
        .sum(fieldPath: $0)
      }
      try visitor.choice(3, "avg", &parts.operation, ProtobufMessage<OperandWire>.self) {
        if case .average(let path)? = $0 { path } else { nil }
      } embed: {
        .average(fieldPath: $0)
      }
      try visitor.field(7, "alias", &parts.alias, ProtobufString.self)
    }
  }

  static func parts(of aggregation: Aggregation) -> (operation: Aggregation.Operation?, alias: String) {
    (aggregation.operation, aggregation.alias)
  }

  static func value(
    of parts: (operation: Aggregation.Operation?, alias: String)
  ) throws(BytesError) -> Aggregation {
    guard let operation = parts.operation else { throw BytesError(.malformed, "an aggregation has no operator") }
    return Aggregation(operation, alias: parts.alias)
  }
}

private enum CountWire: ProtobufSchema {
  static var empty: Int64? { nil }

  static func visit(_ limit: inout Int64?, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "upTo", &limit, ProtobufWrapper<ProtobufInt64>.self)
  }
}

/// A message with one field, which names a field of documents.
private enum OperandWire: ProtobufSchema {
  static var empty: String { "" }

  static func visit(_ path: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    var field = Optional(path)
    try visitor.optional(1, "field", &field, ProtobufMessage<FieldReferenceWire>.self)
    path = field ?? ""
  }
}

/// The statement of `google.firestore.v1.AggregationResult`.
enum AggregationResultWire: ProtobufSchema {
  static var empty: MapValue { MapValue() }

  static func visit(_ fields: inout MapValue, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.map(2, "aggregateFields", &fields, ValueWire.self)
  }
}
