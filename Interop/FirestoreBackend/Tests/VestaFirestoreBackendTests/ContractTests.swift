import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaTesting

/// A backend that refuses everything.
private struct EmptyBackend: FirestoreBackend {
  private static let refusal = FirestoreServiceError(.unimplemented, "This backend can do nothing.")

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws { throw Self.refusal }

  func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse { throw Self.refusal }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse { throw Self.refusal }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws { throw Self.refusal }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse { throw Self.refusal }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse { throw Self.refusal }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse { throw Self.refusal }

  func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse { throw Self.refusal }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse { throw Self.refusal }

  func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    throw Self.refusal
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    throw Self.refusal
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    throw Self.refusal
  }
}

@Suite struct ContractTests {
  @Test func `every promise has a name`() {
    let names = FirestoreContracts.all.map(\.name)
    #expect(Set(names).count == names.count && names.count >= 45)
  }

  @Test func `a backend that refuses everything keeps no promise`() async {
    let outcomes = await FirestoreContracts.all.run { FirestoreSubject(EmptyBackend()) }
    #expect(outcomes.filter(\.isKept).map(\.name) == [])
  }
}
