import VestaFirestoreBackend

/// The limits of the service; requests beyond them fail with `INVALID_ARGUMENT`.
package enum FirestoreLimits {
  /// Bytes of a document, by the rules of `DocumentSize`.
  package static let documentSize = 1_048_576 - 4
  /// Bytes of the writes of one request, by the rules of `RequestSize`.
  package static let requestSize = 10_485_760
  /// Entries that a document has in indexes, by the rules of `IndexEntries`.
  package static let indexEntries = 40_000
  /// Bytes of a document's full name.
  package static let nameLength = 6144
  /// Bytes of a collection's or document's identifier.
  package static let segmentLength = 1500
  /// Bytes of a field's name, and of a field path.
  package static let fieldPathLength = 1500
  /// Bytes of one value: 1 MiB without 89.
  package static let valueSize = 1_048_576 - 89
  /// Maps and arrays within each other.
  package static let depth = 20
  /// Collections within each other.
  package static let collectionDepth = 100
  /// Bytes of a value that count in an index.
  package static let indexedValueLength = 1500
  /// Bytes of one entry of an index: 7.5 KiB.
  package static let indexEntryLength = 7680
  /// Transforms of one document in one request.
  package static let transforms = 500
  /// Conjunctions of a query in disjunctive normal form.
  package static let disjunctions = 30
  /// Values of `in` and `array-contains-any`.
  package static let comparisonValues = 30
  /// Values of `not-in`.
  package static let notInValues = 10
  /// Fields with inequalities.
  package static let inequalityFields = 10
  /// Filters and orders of a query together.
  package static let filtersAndOrders = 100
  /// Figures of one aggregation query.
  package static let aggregations = 5
  /// Numbers of a vector.
  package static let vectorDimension = 2048
  /// Results of a search for nearest vectors.
  package static let nearestResults = 1000
}

extension FirestoreServiceError {
  /// A request that can never be right.
  static func invalid(_ message: String) -> FirestoreServiceError { FirestoreServiceError(.invalidArgument, message) }
}
