public import VestaBytes
public import VestaFirestoreBackend

/// The statement of `google.firestore.v1.StructuredQuery`.
public enum QueryWire: ProtobufSchema {
  /// A query without fields.
  public static var empty: StructuredQuery { StructuredQuery(from: []) }

  /// Visits the fields.
  public static func visit(_ query: inout StructuredQuery, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.optional(1, "select", &query.select, ProtobufMessage<ProjectionWire>.self)
    try visitor.repeated(2, "from", &query.from, ProtobufMessage<SelectorWire>.self)
    try visitor.optional(3, "where", &query.filter, ProtobufConverted<FilterWire>.self)
    try visitor.repeated(4, "orderBy", &query.orderBy, ProtobufMessage<OrderWire>.self)
    try visitor.optional(5, "limit", &query.limit, ProtobufWrapper<ProtobufInt32>.self)
    try visitor.field(6, "offset", &query.offset, ProtobufInt32.self)
    try visitor.optional(7, "startAt", &query.startAt, ProtobufMessage<CursorWire>.self)
    try visitor.optional(8, "endAt", &query.endAt, ProtobufMessage<CursorWire>.self)
    try visitor.optional(9, "findNearest", &query.findNearest, ProtobufConverted<FindNearestWire>.self)
  }
}

/// A projection; one without fields is all fields, and the names alone are the field `__name__`.
private enum ProjectionWire: ProtobufSchema {
  static var empty: [String] { [] }

  static func visit(_ paths: inout [String], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(2, "fields", &paths, ProtobufMessage<FieldReferenceWire>.self)
  }
}

private enum SelectorWire: ProtobufSchema {
  static var empty: StructuredQuery.CollectionSelector { StructuredQuery.CollectionSelector(collectionID: "") }

  static func visit(
    _ selector: inout StructuredQuery.CollectionSelector, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.field(2, "collectionId", &selector.collectionID, ProtobufString.self)
    try visitor.field(3, "allDescendants", &selector.allDescendants, ProtobufBool.self)
  }
}

private enum OrderWire: ProtobufSchema {
  static var empty: StructuredQuery.Order { StructuredQuery.Order(fieldPath: "") }

  static func visit(_ order: inout StructuredQuery.Order, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    var path = Optional(order.fieldPath)
    try visitor.optional(1, "field", &path, ProtobufMessage<FieldReferenceWire>.self)
    order.fieldPath = path ?? ""
    try visitor.field(2, "direction", &order.direction, ProtobufEnum<Directions>.self)
  }

  enum Directions: ProtobufEnumSchema {
    // The first one with a value is written; the unspecified direction, which is last, is read as ascending.
    static var cases: [(number: Int32, name: StaticString, value: StructuredQuery.Direction)] {
      [
        (1, "ASCENDING", .ascending), (2, "DESCENDING", .descending), (0, "DIRECTION_UNSPECIFIED", .ascending),
      ]
    }
  }
}

/// The statement of `google.firestore.v1.Cursor`.
public enum CursorWire: ProtobufSchema {
  /// A cursor without values.
  public static var empty: StructuredQuery.Cursor { StructuredQuery.Cursor(values: [], before: false) }

  /// Visits the fields.
  public static func visit(
    _ cursor: inout StructuredQuery.Cursor, _ visitor: inout some ProtobufVisitor
  ) throws(BytesError) {
    try visitor.repeated(1, "values", &cursor.values, ValueWire.self)
    try visitor.field(2, "before", &cursor.before, ProtobufBool.self)
  }
}

/// The conversion of `StructuredQuery.FindNearest`.
private enum FindNearestWire: ProtobufConversion {
  struct Parts {
    var field: String?
    var vector: Value?
    var measure: FindNearest.DistanceMeasure?
    var limit: Int32?
    var resultField = ""
    var threshold: Double?
  }

  enum Schema: ProtobufSchema {
    static var empty: Parts { Parts() }

    static func visit(_ nearest: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "vectorField", &nearest.field, ProtobufMessage<FieldReferenceWire>.self)
      try visitor.optional(2, "queryVector", &nearest.vector, ValueWire.self)
      try visitor.field(3, "distanceMeasure", &nearest.measure, ProtobufEnum<Measures>.self)
      try visitor.optional(4, "limit", &nearest.limit, ProtobufWrapper<ProtobufInt32>.self)
      try visitor.field(5, "distanceResultField", &nearest.resultField, ProtobufString.self)
      try visitor.optional(6, "distanceThreshold", &nearest.threshold, ProtobufWrapper<ProtobufDouble>.self)
    }
  }

  enum Measures: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: FindNearest.DistanceMeasure?)] {
      [
        (0, "DISTANCE_MEASURE_UNSPECIFIED", nil), (1, "EUCLIDEAN", .euclidean), (2, "COSINE", .cosine),
        (3, "DOT_PRODUCT", .dotProduct),
      ]
    }
  }

  static func parts(of nearest: FindNearest) -> Parts {
    Parts(
      field: nearest.vectorField, vector: nearest.queryVector, measure: nearest.distanceMeasure,
      limit: nearest.limit, resultField: nearest.distanceResultField ?? "", threshold: nearest.distanceThreshold)
  }

  static func value(of parts: Parts) throws(BytesError) -> FindNearest {
    guard let field = parts.field, let vector = parts.vector, let measure = parts.measure else {
      throw BytesError(.malformed, "a search for the nearest lacks its field, its vector or its measure")
    }
    return FindNearest(
      vectorField: field, queryVector: vector, distanceMeasure: measure, limit: parts.limit ?? 0,
      distanceResultField: parts.resultField.isEmpty ? nil : parts.resultField,
      distanceThreshold: parts.threshold)
  }
}
