internal import VestaFirestoreModel

extension Query {
  /// The query for documents that match a filter as well.
  public func whereFilter(_ filter: Filter) -> Query {
    changed { description in
      guard let read = try FilterReader(query: description).read(filter.node) else { return }
      try description.checkConflicts(with: read)
      description.filters.append(read)
    }
  }
}

extension QueryDescription {
  /// Refuses operators that must not meet in one query.
  fileprivate func checkConflicts(with filter: WireFilter) throws {
    var present = filters.flatMap(\.operators)
    for operation in filter.operators {
      if let other = present.first(where: operation.conflicts.contains) {
        throw FirestoreErrorCode.invalid(
          operation == other
            ? "Invalid Query. You cannot use more than one '\(operation.userName)' filter."
            : "Invalid Query. You cannot use '\(operation.userName)' filters with '\(other.userName)' filters.")
      }
      present.append(operation)
    }
  }
}
