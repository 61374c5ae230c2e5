/// A query that is to be allowed or denied as a whole.
public struct RulesQuery: Sendable {
  /// The comparisons of filters.
  public enum Comparison: String, Sendable, CaseIterable {
    /// `==`
    case equal = "=="
    /// `!=`
    case notEqual = "!="
    /// `<`
    case less = "<"
    /// `<=`
    case lessOrEqual = "<="
    /// `>`
    case greater = ">"
    /// `>=`
    case greaterOrEqual = ">="
    /// `array-contains`
    case arrayContains = "array-contains"
    /// `array-contains-any`
    case arrayContainsAny = "array-contains-any"
    /// `in`
    case isIn = "in"
    /// `not-in`
    case notIn = "not-in"
  }

  /// A filter.
  public indirect enum Filter: Sendable {
    /// A comparison of a field, given by the names on its path.
    case field([String], Comparison, RulesValue)
    /// All filters hold.
    case all([Filter])
    /// One of the filters holds.
    case any([Filter])
  }

  /// The path of the document or root that the collection is below, from `/databases` on.
  public var parent: RulesPath
  /// The name of the collection.
  public var collection: String
  /// Whether all collections of the name below the parent are meant.
  public var isGroup: Bool
  /// The filter.
  public var filter: Filter?
  /// The names of fields and whether they are descending.
  public var order: [(field: String, isDescending: Bool)]
  /// The largest number of results.
  public var limit: Int64?
  /// The number of results that are left out.
  public var offset: Int64
  /// The paths of the documents that the filter names by `__name__` with `==` or `in`; `nil` where there may be others.
  ///
  /// The filter does not contain these conditions.
  public var names: [RulesPath]?

  /// A query.
  public init(
    _ collection: String, below parent: RulesPath, isGroup: Bool = false, filter: Filter? = nil,
    order: [(field: String, isDescending: Bool)] = [], limit: Int64? = nil, offset: Int64 = 0
  ) {
    self.collection = collection
    self.parent = parent
    self.isGroup = isGroup
    self.filter = filter
    self.order = order
    self.limit = limit
    self.offset = offset
  }

  /// The variable `request.query`: `limit` is null without a limit, as in the emulator.
  var variable: RulesValue {
    var members = [RulesMap.Member("offset", .int(offset))]
    members.append(
      RulesMap.Member(
        "orderBy", .map(RulesMap(order.map { RulesMap.Member($0.field, .string($0.isDescending ? "DESC" : "ASC")) }))))
    members.append(RulesMap.Member("limit", limit.map { .int($0) } ?? .null))
    return .map(RulesMap(members))
  }

  /// The path of the documents that the query can return.
  var segments: [PathSegment] {
    let names = parent.segments
    var segments: [PathSegment] = []
    segments.reserveCapacity(names.count + 3)
    for name in names { segments.append(.known(name)) }
    if isGroup { segments.append(.gap) }
    segments.append(.known(collection))
    segments.append(.any)
    return segments
  }
}
