import VestaTesting
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import Testing

/// A backend that refuses everything.
private struct EmptyBackend: FirestoreBackend {
  private static let refusal = FirestoreError(.unimplemented, "This backend can do nothing.")

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: FirestoreCallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws { throw Self.refusal }

  func listDocuments(
    _ request: ListDocumentsRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> ListDocumentsResponse { throw Self.refusal }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> ListCollectionIDsResponse { throw Self.refusal }

  func runQuery(
    _ request: RunQueryRequest, context: FirestoreCallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws { throw Self.refusal }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> RunAggregationQueryResponse { throw Self.refusal }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> PartitionQueryResponse { throw Self.refusal }

  func commit(
    _ request: CommitRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> CommitResponse { throw Self.refusal }

  func batchWrite(
    _ request: BatchWriteRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> BatchWriteResponse { throw Self.refusal }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: FirestoreCallContext
  ) async throws(FirestoreError) -> BeginTransactionResponse { throw Self.refusal }

  func rollback(_ request: RollbackRequest, context: FirestoreCallContext) async throws(FirestoreError) {
    throw Self.refusal
  }

  func listen(database: String, context: FirestoreCallContext) async throws(FirestoreError) -> ListenCall {
    throw Self.refusal
  }

  func write(database: String, context: FirestoreCallContext) async throws(FirestoreError) -> WriteCall {
    throw Self.refusal
  }
}

@Suite struct ContractTests {
  @Test func everyPromiseHasAName() {
    let names = FirestoreContracts.all.map(\.name)
    #expect(Set(names).count == names.count && names.count >= 45)
  }

  @Test func aBackendThatRefusesEverythingKeepsNoPromise() async {
    let outcomes = await FirestoreContracts.all.run { FirestoreSubject(EmptyBackend()) }
    #expect(outcomes.filter(\.isKept).map(\.name) == [])
  }
}
