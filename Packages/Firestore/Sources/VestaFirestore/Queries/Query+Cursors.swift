internal import VestaFirestoreBackend
internal import VestaFirestoreModel

extension Query {
  /// The query for results from a document on, the document included.
  ///
  /// - Parameter document: It must exist and have every field that the query orders by.
  public func start(atDocument document: DocumentSnapshot) -> Query { start(document, before: true) }

  /// The query for results from a point on, in the order of the query, the point included.
  ///
  /// - Parameter fieldValues: A value for each order, or for the first ones.
  public func start(at fieldValues: [Any]) -> Query { start(fieldValues, before: true) }

  /// The query for results after a document.
  public func start(afterDocument document: DocumentSnapshot) -> Query { start(document, before: false) }

  /// The query for results after a point in the order of the query.
  public func start(after fieldValues: [Any]) -> Query { start(fieldValues, before: false) }

  /// The query for results before a document.
  public func end(beforeDocument document: DocumentSnapshot) -> Query { end(document, before: true) }

  /// The query for results before a point in the order of the query.
  public func end(before fieldValues: [Any]) -> Query { end(fieldValues, before: true) }

  /// The query for results up to a document, the document included.
  public func end(atDocument document: DocumentSnapshot) -> Query { end(document, before: false) }

  /// The query for results up to a point in the order of the query, the point included.
  public func end(at fieldValues: [Any]) -> Query { end(fieldValues, before: false) }

  private func start(_ values: [Any], before: Bool) -> Query {
    changed { $0.startAt = .init(values: try CursorReader(query: $0).values(values), before: before) }
  }

  private func end(_ values: [Any], before: Bool) -> Query {
    changed { $0.endAt = .init(values: try CursorReader(query: $0).values(values), before: before) }
  }

  private func start(_ document: DocumentSnapshot, before: Bool) -> Query {
    changed { $0.startAt = .init(values: try CursorReader(query: $0).values(of: document), before: before) }
  }

  private func end(_ document: DocumentSnapshot, before: Bool) -> Query {
    changed { $0.endAt = .init(values: try CursorReader(query: $0).values(of: document), before: before) }
  }
}

/// Turns an application's cursors into values of the query's orders.
///
/// The messages are the Firebase SDK's.
private struct CursorReader {
  let query: QueryDescription

  func values(_ values: [Any]) throws -> [Value] {
    guard values.count <= query.orders.count else {
      throw FirestoreErrorCode.invalid(
        "Invalid query. You are trying to start or end a query using more values than were specified in the order by.")
    }
    return try zip(query.orders, values).map { order, value in
      let user = UserValue(any: value)
      return order.path.isDocumentName ? try documentID(user) : try operand(user)
    }
  }

  /// The values of a document for all orders, the implicit ones included.
  func values(of snapshot: DocumentSnapshot) throws -> [Value] {
    func invalid(_ document: String) -> any Error {
      FirestoreErrorCode.invalid("Invalid query. You are trying to start or end a query using a document \(document)")
    }
    guard let document = snapshot.document else { throw invalid("that doesn't exist.") }
    return try query.unchecked().orders.map { order in
      guard let value = document.value(at: order.path) else {
        throw invalid("for which the field '\(order.path)' (used as the order by) does not exist.")
      }
      guard value.pendingWriteTime == nil else {
        throw invalid(
          "for which the field '\(order.path)' is an uncommitted server timestamp. (Since the value of this field is "
            + "unknown, you cannot start/end a query with it.)")
      }
      return value
    }
  }

  private func operand(_ value: UserValue) throws -> Value {
    try UserDataReader(database: query.database).read(operand: value)
  }

  private func documentID(_ value: UserValue) throws -> Value {
    guard case .value(.string(let id)) = value else {
      throw FirestoreErrorCode.invalid("Invalid query. Expected a string for the document ID.")
    }
    return try DocumentIDOperand(query: query).reference(id, context: .cursor)
  }
}
