internal import VestaFirestoreBackend
internal import VestaFirestoreModel

// Sound as @unchecked Sendable: all properties are immutable values; the class has a subclass, which the compiler's own
// check does not allow.
/// A question to a collection or a collection group: which documents, in which order, how many.
///
/// Each function returns a new query. A mistake, such as a value that cannot be compared, is thrown when the query is
/// read or listened to.
///
/// ```swift
/// let large = db.collection("cities").whereField("population", isGreaterThan: 1_000_000)
///   .order(by: "population", descending: true).limit(to: 10)
/// for document in try await large.getDocuments().documents { print(document.documentID) }
/// ```
public class Query: @unchecked Sendable, Hashable {
  /// The database of the query.
  public let firestore: Firestore
  let description: QueryDescription

  init(_ description: QueryDescription, firestore: Firestore) {
    self.description = description
    self.firestore = firestore
  }

  /// The query with the results in the order of a field; documents without the field are left out.
  ///
  /// - Parameter field: A string with dots between names.
  public func order(by field: String) -> Query { order(by: field, descending: false) }

  /// The query with the results in the order of a field; documents without the field are left out.
  public func order(by path: FieldPath) -> Query { order(by: path, descending: false) }

  /// The query with the results in the order of a field; documents without the field are left out.
  public func order(by field: String, descending: Bool) -> Query {
    changed { try $0.add(order: FieldPath.parsing(field), descending: descending) }
  }

  /// The query with the results in the order of a field; documents without the field are left out.
  public func order(by path: FieldPath, descending: Bool) -> Query {
    changed { try $0.add(order: path, descending: descending) }
  }

  /// The query for the first results.
  ///
  /// - Parameter limit: At least 1.
  public func limit(to limit: Int) -> Query { changed { try $0.set(limit: limit, .first) } }

  /// The query for the last results, in the order of the query; it needs at least one order.
  ///
  /// - Parameter limit: At least 1.
  public func limit(toLast limit: Int) -> Query { changed { try $0.set(limit: limit, .last) } }

  /// A query after a change of its description.
  func changed(_ change: (inout QueryDescription) throws -> Void) -> Query {
    Query(description.with(change), firestore: firestore)
  }

  /// Whether two queries of one database ask the same.
  public static func == (left: Query, right: Query) -> Bool {
    left.firestore === right.firestore && left.description == right.description
  }

  /// Hashes the query.
  public func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

extension QueryDescription {
  fileprivate mutating func add(order path: FieldPath, descending: Bool) throws {
    if startAt != nil {
      throw FirestoreErrorCode.invalid(
        "Invalid query. You must not specify a starting point before specifying the order by.")
    }
    if endAt != nil {
      throw FirestoreErrorCode.invalid(
        "Invalid query. You must not specify an ending point before specifying the order by.")
    }
    orders.append(QueryOrder(path.model, descending: descending))
  }

  fileprivate mutating func set(limit: Int, _ type: LocalQuery.LimitType) throws {
    guard limit > 0 else {
      throw FirestoreErrorCode.invalid(
        "Invalid Query. Query limit (\(limit)) is invalid. Limit must be positive.")
    }
    self.limit = limit
    limitType = type
  }
}
