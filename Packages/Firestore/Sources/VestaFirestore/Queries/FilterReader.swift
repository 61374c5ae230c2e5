internal import VestaFirestoreBackend
internal import VestaFirestoreModel

/// Checks filters as an application writes them, and turns them into what the backend takes.
///
/// The messages are the Firebase SDK's.
struct FilterReader {
  let query: QueryDescription

  func read(_ node: Filter.Node) throws -> WireFilter? {
    switch node {
    case .failed(let error): throw error
    case .and(let nodes): try joined(.and, nodes)
    case .or(let nodes): try joined(.or, nodes)
    case .field(let path, let operation, let value): try field(path, operation, value)
    }
  }

  /// An empty composite says nothing; one of a single filter is that filter.
  private func joined(_ operation: WireFilter.CompositeOperator, _ nodes: [Filter.Node]) throws -> WireFilter? {
    let filters = try nodes.compactMap(read)
    return filters.count > 1 ? .composite(operation, filters) : filters.first
  }

  private func field(
    _ path: FieldPath, _ operation: WireFilter.FieldOperator, _ value: UserValue
  ) throws -> WireFilter {
    let name = path.model.description
    if path.model.isDocumentName { return .field(path: name, operation, try documentOperand(operation, value)) }
    if operation.takesList { try checkList(value, operation) }
    let operand = try UserDataReader(database: query.database).read(operand: value, allowsArrays: operation.takesList)
    if let unary = WireFilter.UnaryOperator(operation, operand) { return .unary(path: name, unary) }
    return .field(path: name, operation, operand)
  }

  private func checkList(_ value: UserValue, _ operation: WireFilter.FieldOperator) throws {
    guard case .array(let elements) = value, !elements.isEmpty else {
      throw FirestoreErrorCode.invalid(
        "Invalid Query. A non-empty array is required for '\(operation.userName)' filters.")
    }
  }

  // MARK: Filters on the document's id

  private func documentOperand(_ operation: WireFilter.FieldOperator, _ value: UserValue) throws -> Value {
    switch operation {
    case .arrayContains, .arrayContainsAny:
      throw FirestoreErrorCode.invalid(
        "Invalid query. You can't perform \(operation.userName) queries on document ID since document IDs are not arrays."
      )
    case .in, .notIn:
      try checkList(value, operation)
      guard case .array(let elements) = value else { return .array([]) }
      return .array(try elements.map(reference))
    default: return try reference(value)
    }
  }

  private func reference(_ value: UserValue) throws -> Value {
    switch value {
    case .reference: return try UserDataReader(database: query.database).read(operand: value)
    case .value(.string(let id)): return try DocumentIDOperand(query: query).reference(id, context: .filter)
    default:
      throw FirestoreErrorCode.invalid(
        "Invalid query. When querying by document ID you must provide a valid string or DocumentReference, but it was of "
          + "type: \(value.typeName)")
    }
  }
}

/// Names of documents in filters and cursors.
struct DocumentIDOperand {
  let query: QueryDescription

  enum Context {
    case filter
    case cursor

    var opening: String {
      self == .filter ? "querying a collection by" : "querying a collection and ordering by"
    }
    var groupOpening: String {
      self == .filter ? "querying a collection group by" : "querying a collection group and ordering by"
    }
  }

  /// The reference for an id, or for a path in a collection group.
  func reference(_ id: String, context: Context) throws -> Value {
    if id.isEmpty, context == .filter {
      throw FirestoreErrorCode.invalid(
        "Invalid query. When querying by document ID you must provide a valid document ID, but it was an empty string.")
    }
    let segments = query.path.segments + id[...].utf8.split(separator: UInt8(ascii: "/")).filter { !$0.isEmpty }
    if query.collectionGroup == nil {
      guard !id.utf8.contains(UInt8(ascii: "/")) else {
        throw FirestoreErrorCode.invalid(
          "Invalid query. When \(context.opening) document ID you must provide a plain document ID, but '\(id)' contains "
            + "a '/' character.")
      }
    } else if !segments.count.isMultiple(of: 2) {
      throw FirestoreErrorCode.invalid(
        "Invalid query. When \(context.groupOpening) document ID, the value provided must result in a valid document path, "
          + "but '\(ResourcePath(segments))' is not because it has an odd number of segments (\(segments.count)).")
    }
    return .reference(ResourceName(database: query.database, path: ResourcePath(segments)).description)
  }
}

extension UserValue {
  /// The kind of the value for errors.
  fileprivate var typeName: String {
    switch self {
    case .value(.null): "NSNull"
    case .value(.boolean), .value(.integer), .value(.double): "NSNumber"
    case .value(.timestamp): "Timestamp"
    case .value(.bytes): "Data"
    case .value(.geoPoint): "GeoPoint"
    case .value(.string): "String"
    case .value(.reference), .reference: "DocumentReference"
    case .value(.array), .array: "Array"
    case .value(.map), .map: "Dictionary"
    case .sentinel(let value): value.name
    case .refused(let text, _): text
    }
  }
}

extension WireFilter.FieldOperator {
  var takesList: Bool { self == .in || self == .notIn || self == .arrayContainsAny }

  /// The name in errors.
  var userName: String {
    switch self {
    case .lessThan: "lessThan"
    case .lessThanOrEqual: "lessThanOrEqual"
    case .greaterThan: "greaterThan"
    case .greaterThanOrEqual: "greaterThanOrEqual"
    case .equal: "equal"
    case .notEqual: "notEqual"
    case .arrayContains: "arrayContains"
    case .in: "in"
    case .arrayContainsAny: "arrayContainsAny"
    case .notIn: "notIn"
    }
  }

  /// Operators that must not be in one query with this one.
  var conflicts: [WireFilter.FieldOperator] {
    switch self {
    case .notEqual: [.notEqual, .notIn]
    case .arrayContainsAny, .in: [.notIn]
    case .notIn: [.arrayContainsAny, .in, .notIn, .notEqual]
    default: []
    }
  }
}

extension WireFilter.UnaryOperator {
  /// The question about null or NaN that a comparison with it is.
  init?(_ operation: WireFilter.FieldOperator, _ operand: Value) {
    let isNaN = if case .double(let number) = operand { number.isNaN } else { false }
    switch (operation, operand == .null, isNaN) {
    case (.equal, true, _): self = .isNull
    case (.equal, _, true): self = .isNaN
    case (.notEqual, true, _): self = .isNotNull
    case (.notEqual, _, true): self = .isNotNaN
    default: return nil
    }
  }
}

extension WireFilter {
  /// The operators of all comparisons in the filter; questions about null and NaN count as the comparison they were.
  var operators: [FieldOperator] {
    switch self {
    case .composite(_, let filters): filters.flatMap(\.operators)
    case .field(_, let operation, _): [operation]
    case .unary(_, let operation): operation == .isNotNull || operation == .isNotNaN ? [.notEqual] : [.equal]
    }
  }
}
