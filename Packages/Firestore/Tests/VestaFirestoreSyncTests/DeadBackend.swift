import VestaFirestoreBackend

/// A backend that takes every call and never answers; calls end when their tasks are cancelled.
struct DeadBackend: FirestoreBackend {
  private func never() async throws(FirestoreServiceError) -> Never {
    let silence = AsyncStream<Never> { _ in }
    for await _ in silence {}
    throw FirestoreServiceError(.cancelled, "The call was cancelled.")
  }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await never()
  }

  func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await never()
  }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await never()
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await never()
  }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await never()
  }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await never()
  }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await never()
  }

  func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await never()
  }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await never()
  }

  func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await never()
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await never()
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await never()
  }
}
