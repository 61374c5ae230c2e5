public import VestaFirestoreBackend
public import VestaServiceInterop

/// A backend that passes its calls on to other backends.
///
/// A test double conforms to it, says which backend serves a call, and implements the calls that it changes:
///
/// ```swift
/// struct SilentBackend: ForwardingFirestoreBackend {
///   let served: any FirestoreBackend
///   func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { served }
///   func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {}
/// }
/// ```
public protocol ForwardingFirestoreBackend: FirestoreBackend {
  /// The backend for one call; asked once for each call.
  ///
  /// - Parameter transaction: The transaction of the call; `nil` for a call without one.
  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend
}

extension ForwardingFirestoreBackend {
  private func backend(_ consistency: ReadConsistency) -> any FirestoreBackend {
    if case .transaction(let id) = consistency { return backend(serving: id) }
    return backend(serving: nil)
  }

  /// Reads documents by name.
  public func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await backend(request.consistency).batchGet(request, context: context, receive: receive)
  }

  /// Lists the documents of a collection.
  public func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await backend(request.consistency).listDocuments(request, context: context)
  }

  /// Lists the collections below a document.
  public func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await backend(serving: nil).listCollectionIDs(request, context: context)
  }

  /// Runs a query.
  public func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await backend(request.consistency).runQuery(request, context: context, receive: receive)
  }

  /// Counts, sums and averages.
  public func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await backend(request.consistency).runAggregation(request, context: context)
  }

  /// Splits a query into parts.
  public func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await backend(serving: nil).partitionQuery(request, context: context)
  }

  /// Commits writes.
  public func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await backend(serving: request.transaction).commit(request, context: context)
  }

  /// Applies writes, each by itself.
  public func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await backend(serving: nil).batchWrite(request, context: context)
  }

  /// Begins a transaction.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await backend(serving: nil).beginTransaction(request, context: context)
  }

  /// Gives a transaction up.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await backend(serving: request.transaction).rollback(request, context: context)
  }

  /// Opens a call that follows targets.
  public func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await backend(serving: nil).listen(database: database, context: context)
  }

  /// Opens a call that writes.
  public func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await backend(serving: nil).write(database: database, context: context)
  }
}
