internal import VestaFirestoreBackend

/// A condition on documents: a comparison of a field, or several conditions joined.
///
/// ```swift
/// let open = Filter.orFilter([
///   Filter.whereField("state", isEqualTo: "open"),
///   Filter.andFilter([.whereField("state", isEqualTo: "waiting"), .whereField("votes", isGreaterThan: 10)]),
/// ])
/// let snapshot = try await db.collection("issues").whereFilter(open).getDocuments()
/// ```
public final class Filter: Sendable, Hashable {
  /// The comparison, or the filters that are joined.
  indirect enum Node: Sendable, Hashable {
    case field(FieldPath, WireFilter.FieldOperator, UserValue)
    case and([Node])
    case or([Node])
    /// A field that cannot be named so; thrown when the query is used.
    case failed(FirestoreErrorCode)
  }

  let node: Node

  init(_ node: Node) { self.node = node }

  /// Matches documents that match at least one of the filters.
  public static func orFilter(_ filters: [Filter]) -> Filter { Filter(.or(filters.map(\.node))) }

  /// Matches documents that match all of the filters.
  public static func andFilter(_ filters: [Filter]) -> Filter { Filter(.and(filters.map(\.node))) }

  /// Whether two filters are written in the same way.
  public static func == (left: Filter, right: Filter) -> Bool { left.node == right.node }

  /// Hashes the filter.
  public func hash(into hasher: inout Hasher) { hasher.combine(node) }

  static func make(_ field: String, _ operation: WireFilter.FieldOperator, _ value: Any) -> Filter {
    do {
      return make(try FieldPath.parsing(field), operation, value)
    } catch {
      return Filter(.failed(error as? FirestoreErrorCode ?? .invalid("\(error)")))
    }
  }

  static func make(_ path: FieldPath, _ operation: WireFilter.FieldOperator, _ value: Any) -> Filter {
    Filter(.field(path, operation, UserValue(any: value)))
  }
}
