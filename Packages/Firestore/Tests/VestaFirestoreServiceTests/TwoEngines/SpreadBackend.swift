import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreService
import VestaTesting

/// Spreads calls over several engines at random; those of a transaction go to an engine that serves it.
struct SpreadBackend: FirestoreBackend {
  private let engines: [FirestoreEngine]
  private let generator: Locked<SplitMix>

  init(_ engines: [FirestoreEngine], seed: UInt64) {
    self.engines = engines
    generator = Locked(SplitMix(seed: seed))
  }

  private func engine(_ consistency: ReadConsistency = .latest) -> FirestoreEngine {
    if case .transaction(let id) = consistency { return engine(serving: id) }
    return engine(serving: nil)
  }

  private func engine(serving transaction: [UInt8]?) -> FirestoreEngine {
    let able = engines.filter { engine in transaction.map(engine.serves(transaction:)) ?? true }
    return able[generator.withLock { Int.random(in: 0..<able.count, using: &$0) }]
  }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await engine(request.consistency).batchGet(request, context: context, receive: receive)
  }

  func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await engine(request.consistency).listDocuments(request, context: context)
  }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await engine().listCollectionIDs(request, context: context)
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await engine(request.consistency).runQuery(request, context: context, receive: receive)
  }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await engine(request.consistency).runAggregation(request, context: context)
  }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await engine().partitionQuery(request, context: context)
  }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await engine(serving: request.transaction).commit(request, context: context)
  }

  func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await engine().batchWrite(request, context: context)
  }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await engine().beginTransaction(request, context: context)
  }

  func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await engine(serving: request.transaction).rollback(request, context: context)
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await engine().listen(database: database, context: context)
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await engine().write(database: database, context: context)
  }
}
