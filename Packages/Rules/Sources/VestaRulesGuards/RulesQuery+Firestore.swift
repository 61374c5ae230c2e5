import VestaBytes
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
    names = query.filter?.documentNames.map { $0.map { RulesPath(resource: $0) } }
  }
}

extension Filter {
  /// The names of the documents of which the filter returns some at the most, each once; `nil` where it may return
  /// others.
  fileprivate var documentNames: [String]? {
    switch self {
    case .field("__name__", .equal, .reference(let name)): return [name]
    case .field("__name__", .in, .array(let values)):
      var names: [String] = []
      for value in values {
        guard case .reference(let name) = value else { return nil }
        if !names.contains(where: { UTF8Order.equal($0, name) }) { names.append(name) }
      }
      return names
    case .composite(.and, let filters): return filters.lazy.compactMap(\.documentNames).min { $0.count < $1.count }
    case .composite(.or, let filters):
      var names: [String] = []
      for filter in filters {
        guard let own = filter.documentNames else { return nil }
        for name in own where !names.contains(where: { UTF8Order.equal($0, name) }) { names.append(name) }
      }
      return names
    case .field, .unary: return nil
    }
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
