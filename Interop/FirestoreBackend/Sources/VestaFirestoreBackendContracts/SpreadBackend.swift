import VestaConcurrency
public import VestaFirestoreBackend
public import VestaServiceInterop
import VestaTesting

/// Spreads calls over several backends at random, as a balancer in front of several processes does; those of a
/// transaction go to a backend that serves it.
///
/// What one backend promises, several on the same data promise together.
public struct SpreadBackend: FirestoreBackend {
  private let backends: [any FirestoreBackend]
  private let serves: @Sendable (_ backend: Int, _ transaction: [UInt8]) -> Bool
  private let generator: Locked<SplitMix>

  /// Spreads calls.
  ///
  /// - Parameters:
  ///   - backends: At least one.
  ///   - seed: Gives the same choices again.
  ///   - serves: Whether a backend can go on with a transaction.
  public init(
    _ backends: [any FirestoreBackend], seed: UInt64,
    serves: @escaping @Sendable (_ backend: Int, _ transaction: [UInt8]) -> Bool
  ) {
    self.backends = backends
    self.serves = serves
    generator = Locked(SplitMix(seed: seed))
  }

  private func backend(_ consistency: ReadConsistency = .latest) -> any FirestoreBackend {
    if case .transaction(let id) = consistency { return backend(serving: id) }
    return backend(serving: nil)
  }

  private func backend(serving transaction: [UInt8]?) -> any FirestoreBackend {
    let able = backends.indices.filter { index in transaction.map { serves(index, $0) } ?? true }
    return backends[able[generator.withLock { Int.random(in: 0..<able.count, using: &$0) }]]
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
    try await backend().listCollectionIDs(request, context: context)
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
    try await backend().partitionQuery(request, context: context)
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
    try await backend().batchWrite(request, context: context)
  }

  /// Begins a transaction.
  public func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await backend().beginTransaction(request, context: context)
  }

  /// Gives a transaction up.
  public func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await backend(serving: request.transaction).rollback(request, context: context)
  }

  /// Opens a call that follows targets.
  public func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await backend().listen(database: database, context: context)
  }

  /// Opens a call that writes.
  public func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    try await backend().write(database: database, context: context)
  }
}
