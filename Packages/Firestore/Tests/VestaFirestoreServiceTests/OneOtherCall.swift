import VestaFirestoreBackend
import VestaFirestoreBackendContracts

/// A backend that makes the calls of one kind for another caller: a wrong engine that looks at the caller everywhere
/// but there.
struct OneOtherCall: ForwardingFirestoreBackend {
  enum Kind: CaseIterable {
    case batchGet, listDocuments, listCollectionIDs, runQuery, runAggregation, partitionQuery, commit, batchWrite
    case beginTransaction, rollback, listen, write
  }

  let base: any FirestoreBackend
  let kind: Kind
  let caller: CallContext.Caller

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { base }

  private func seen(_ context: CallContext, _ kind: Kind) -> CallContext {
    var context = context
    if kind == self.kind { context.caller = caller }
    return context
  }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await base.batchGet(request, context: seen(context, .batchGet), receive: receive)
  }

  func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await base.listDocuments(request, context: seen(context, .listDocuments))
  }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await base.listCollectionIDs(request, context: seen(context, .listCollectionIDs))
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await base.runQuery(request, context: seen(context, .runQuery), receive: receive)
  }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await base.runAggregation(request, context: seen(context, .runAggregation))
  }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await base.partitionQuery(request, context: seen(context, .partitionQuery))
  }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await base.commit(request, context: seen(context, .commit))
  }

  func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await base.batchWrite(request, context: seen(context, .batchWrite))
  }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await base.beginTransaction(request, context: seen(context, .beginTransaction))
  }

  func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await base.rollback(request, context: seen(context, .rollback))
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await base.listen(database: database, context: seen(context, .listen))
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await base.write(database: database, context: seen(context, .write))
  }
}
