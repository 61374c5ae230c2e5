import VestaFirestoreBackend
import VestaRules

extension RulesQuery {
  /// A query as rules see it; `nil` for one that rules cannot speak of, such as one of several collections.
  init?(_ asked: FirestoreGuardedQuery) {
    let query = asked.query
    guard query.from.count == 1, let from = query.from.first, !from.collectionID.isEmpty else { return nil }
    self.init(
      from.collectionID, below: RulesPath(resource: asked.parent), isGroup: from.allDescendants,
      filter: query.filter.map(RulesQuery.Filter.init),
      order: query.orderBy.map { ($0.fieldPath, $0.direction == .descending) }, limit: query.limit.map(Int64.init),
      offset: Int64(query.offset))
  }
}

extension RulesQuery.Filter {
  /// A condition that rules cannot use counts as one that says nothing.
  private static let nothing = RulesQuery.Filter.all([])

  init(_ filter: Filter) {
    switch filter {
    case .composite(.and, let filters): self = .all(filters.map(RulesQuery.Filter.init))
    case .composite(.or, let filters): self = .any(filters.map(RulesQuery.Filter.init))
    case .field(let path, let comparison, let value):
      guard let field = Self.names(path) else {
        self = Self.nothing
        return
      }
      self = .field(field, RulesQuery.Comparison(comparison), RulesValue(value))
    case .unary(let path, let unary):
      guard let field = Self.names(path) else {
        self = Self.nothing
        return
      }
      self = Self.unary(field, unary)
    }
  }

  private static func unary(_ field: [String], _ comparison: Filter.UnaryOperator) -> RulesQuery.Filter {
    switch comparison {
    case .isNull: .field(field, .equal, .null)
    case .isNotNull: .field(field, .notEqual, .null)
    case .isNaN: .field(field, .equal, .float(.nan))
    case .isNotNaN: nothing
    }
  }

  /// The names on a field path; `nil` for the name of the document and for a path that cannot be read.
  static func names(_ path: String) -> [String]? {
    guard path != "__name__" else { return nil }
    var names: [String] = []
    var (name, isQuoted, isEscaped) = ([UInt8](), false, false)
    for byte in path.utf8 {
      switch byte {
      case _ where isEscaped: (name, isEscaped) = (name + [byte], false)
      case UInt8(ascii: "\\") where isQuoted: isEscaped = true
      case UInt8(ascii: "`"): isQuoted.toggle()
      case UInt8(ascii: ".") where !isQuoted:
        names.append(String(decoding: name, as: UTF8.self))
        name = []
      default: name.append(byte)
      }
    }
    names.append(String(decoding: name, as: UTF8.self))
    return isQuoted || isEscaped || names.contains("") ? nil : names
  }
}

extension RulesQuery.Comparison {
  init(_ comparison: Filter.FieldOperator) {
    self =
      switch comparison {
      case .lessThan: .less
      case .lessThanOrEqual: .lessOrEqual
      case .greaterThan: .greater
      case .greaterThanOrEqual: .greaterOrEqual
      case .equal: .equal
      case .notEqual: .notEqual
      case .arrayContains: .arrayContains
      case .in: .isIn
      case .arrayContainsAny: .arrayContainsAny
      case .notIn: .notIn
      }
  }
}
