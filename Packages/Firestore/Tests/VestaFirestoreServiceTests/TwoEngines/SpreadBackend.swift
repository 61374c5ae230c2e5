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
    _ request: BatchGetDocumentsRequest, context: FirestoreCallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await engine(request.consistency).batchGet(request, context: context, receive: receive)
  }

  func listDocuments(
    _ request: ListDocumentsRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> ListDocumentsResponse {
    try await engine(request.consistency).listDocuments(request, context: context)
  }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> ListCollectionIDsResponse {
    try await engine().listCollectionIDs(request, context: context)
  }

  func runQuery(
    _ request: RunQueryRequest, context: FirestoreCallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await engine(request.consistency).runQuery(request, context: context, receive: receive)
  }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> RunAggregationQueryResponse {
    try await engine(request.consistency).runAggregation(request, context: context)
  }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> PartitionQueryResponse {
    try await engine().partitionQuery(request, context: context)
  }

  func commit(
    _ request: CommitRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> CommitResponse {
    try await engine(serving: request.transaction).commit(request, context: context)
  }

  func batchWrite(
    _ request: BatchWriteRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> BatchWriteResponse {
    try await engine().batchWrite(request, context: context)
  }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> BeginTransactionResponse {
    try await engine().beginTransaction(request, context: context)
  }

  func rollback(_ request: RollbackRequest, context: FirestoreCallContext) async throws(FirestoreError) {
    try await engine(serving: request.transaction).rollback(request, context: context)
  }

  func listen(database: String, context: FirestoreCallContext) async throws(FirestoreError) -> ListenCall {
    try await engine().listen(database: database, context: context)
  }

  func write(database: String, context: FirestoreCallContext) async throws(FirestoreError) -> WriteCall {
    try await engine().write(database: database, context: context)
  }
}
