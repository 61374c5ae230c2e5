import VestaBytes
import VestaFirestoreBackend

/// The conversion of `StructuredQuery.Filter`.
enum FilterWire: ProtobufConversion {
  enum Schema: ProtobufSchema {
    static var empty: Filter? { nil }

    static func visit(_ filter: inout Filter?, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.choice(1, "compositeFilter", &filter, ProtobufConverted<CompositeFilterWire>.self) {
        if case .composite(let operation, let filters)? = $0 { (operation, filters) } else { nil }
      } embed: {
        .composite($0.operation, $0.filters)
      }
      try visitor.choice(2, "fieldFilter", &filter, ProtobufConverted<FieldFilterWire>.self) {
        if case .field(let path, let operation, let value)? = $0 { (path, operation, value) } else { nil }
      } embed: {
        .field(path: $0.path, $0.operation, $0.value)
      }
      try visitor.choice(3, "unaryFilter", &filter, ProtobufConverted<UnaryFilterWire>.self) {
        if case .unary(let path, let operation)? = $0 { (path, operation) } else { nil }
      } embed: {
        .unary(path: $0.path, $0.operation)
      }
    }
  }

  static func parts(of filter: Filter) -> Filter? { filter }

  static func value(of parts: Filter?) throws(BytesError) -> Filter {
    guard let parts else { throw BytesError(.malformed, "a filter has no type") }
    return parts
  }
}

/// The conversion of `CompositeFilter`.
private enum CompositeFilterWire: ProtobufConversion {
  enum Schema: ProtobufSchema {
    static var empty: (operation: Filter.CompositeOperator?, filters: [Filter]) { (nil, []) }

    static func visit(
      _ filter: inout (operation: Filter.CompositeOperator?, filters: [Filter]),
      _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.field(1, "op", &filter.operation, ProtobufEnum<Operators>.self)
      try visitor.repeated(2, "filters", &filter.filters, ProtobufConverted<FilterWire>.self)
    }
  }

  enum Operators: ProtobufEnumSchema {
    static var cases: [(number: Int32, name: StaticString, value: Filter.CompositeOperator?)] {
      [(0, "OPERATOR_UNSPECIFIED", nil), (1, "AND", .and), (2, "OR", .or)]
    }
  }

  static func parts(
    of value: (operation: Filter.CompositeOperator, filters: [Filter])
  ) -> (operation: Filter.CompositeOperator?, filters: [Filter]) {
    (value.operation, value.filters)
  }

  static func value(
    of parts: (operation: Filter.CompositeOperator?, filters: [Filter])
  ) throws(BytesError) -> (operation: Filter.CompositeOperator, filters: [Filter]) {
    guard let operation = parts.operation else { throw BytesError(.malformed, "a composite filter has no operator") }
    return (operation, parts.filters)
  }
}

/// The conversion of `FieldFilter`.
private enum FieldFilterWire: ProtobufConversion {
  struct Parts {
    var path: String?
    var operation: Filter.FieldOperator?
    var value: Value?
  }

  enum Schema: ProtobufSchema {
    static var empty: Parts { Parts() }

    static func visit(_ filter: inout Parts, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
      try visitor.optional(1, "field", &filter.path, ProtobufMessage<FieldReferenceWire>.self)
      try visitor.field(2, "op", &filter.operation, ProtobufEnum<Operators>.self)
      try visitor.optional(3, "value", &filter.value, ValueWire.self)
    }
  }

  enum Operators: ProtobufEnumSchema {
    static let cases: [(number: Int32, name: StaticString, value: Filter.FieldOperator?)] = [
      (0, "OPERATOR_UNSPECIFIED", nil), (1, "LESS_THAN", .lessThan), (2, "LESS_THAN_OR_EQUAL", .lessThanOrEqual),
      (3, "GREATER_THAN", .greaterThan), (4, "GREATER_THAN_OR_EQUAL", .greaterThanOrEqual), (5, "EQUAL", .equal),
      (6, "NOT_EQUAL", .notEqual), (7, "ARRAY_CONTAINS", .arrayContains), (8, "IN", .in),
      (9, "ARRAY_CONTAINS_ANY", .arrayContainsAny), (10, "NOT_IN", .notIn),
    ]
  }

  static func parts(of value: (path: String, operation: Filter.FieldOperator, value: Value)) -> Parts {
    Parts(path: value.path, operation: value.operation, value: value.value)
  }

  static func value(
    of parts: Parts
  ) throws(BytesError) -> (path: String, operation: Filter.FieldOperator, value: Value) {
    guard let path = parts.path, let operation = parts.operation, let value = parts.value else {
      throw BytesError(.malformed, "a filter lacks its field, its operator or its value")
    }
    return (path, operation, value)
  }
}

/// The conversion of `UnaryFilter`.
private enum UnaryFilterWire: ProtobufConversion {
  enum Schema: ProtobufSchema {
    static var empty: (path: String?, operation: Filter.UnaryOperator?) { (nil, nil) }

    static func visit(
      _ filter: inout (path: String?, operation: Filter.UnaryOperator?), _ visitor: inout some ProtobufVisitor
    ) throws(BytesError) {
      try visitor.field(1, "op", &filter.operation, ProtobufEnum<Operators>.self)
      try visitor.optional(2, "field", &filter.path, ProtobufMessage<FieldReferenceWire>.self)
    }
  }

  enum Operators: ProtobufEnumSchema {
    static let cases: [(number: Int32, name: StaticString, value: Filter.UnaryOperator?)] = [
      (0, "OPERATOR_UNSPECIFIED", nil), (2, "IS_NAN", .isNaN), (3, "IS_NULL", .isNull), (4, "IS_NOT_NAN", .isNotNaN),
      (5, "IS_NOT_NULL", .isNotNull),
    ]
  }

  static func parts(
    of value: (path: String, operation: Filter.UnaryOperator)
  ) -> (path: String?, operation: Filter.UnaryOperator?) {
    (value.path, value.operation)
  }

  static func value(
    of parts: (path: String?, operation: Filter.UnaryOperator?)
  ) throws(BytesError) -> (path: String, operation: Filter.UnaryOperator) {
    guard let path = parts.path, let operation = parts.operation else {
      throw BytesError(.malformed, "a filter lacks its field or its operator")
    }
    return (path, operation)
  }
}

/// The statement of `FieldReference`, as the path alone.
enum FieldReferenceWire: ProtobufSchema {
  static var empty: String { "" }

  static func visit(_ path: inout String, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(2, "fieldPath", &path, ProtobufString.self)
  }
}
