import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreSync

/// A backend that serves requests to write, and whose connection breaks before some of the answers.
final class DroppingBackend: FirestoreBackend {
  private struct State {
    var drops: Set<Int>
    var answers = 0
    var dropped = 0
  }

  private let backend: any FirestoreBackend
  private let beforeDrop: @Sendable () async -> Void
  private let state: Locked<State>

  /// A backend.
  ///
  /// - Parameters:
  ///   - backend: Serves the calls.
  ///   - drops: Which answers to writes are lost, counted from 0 over all calls.
  ///   - beforeDrop: What happens between a commit and the end of its call.
  init(
    _ backend: any FirestoreBackend, drops: Set<Int>, beforeDrop: @escaping @Sendable () async -> Void = {}
  ) {
    self.backend = backend
    self.beforeDrop = beforeDrop
    state = Locked(State(drops: drops))
  }

  /// How many answers have been lost.
  var dropped: Int { state.withLock { $0.dropped } }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    let call = try await backend.write(database: database, context: context)
    let (responses, outgoing) = AsyncThrowingStream.makeStream(of: [WriteResponse].self, throwing: (any Error).self)
    let task = Task { [self] in
      do {
        for try await batch in call.responses {
          for response in batch {
            if drops(response) {
              await beforeDrop()
              throw FirestoreServiceError(.unavailable, "The connection is lost.")
            }
            outgoing.yield([response])
          }
        }
        outgoing.finish()
      } catch {
        outgoing.finish(throwing: error)
      }
    }
    outgoing.onTermination = { _ in
      call.cancel()
      task.cancel()
    }
    return WriteCall(
      responses: responses, send: { call.send($0) }, finish: { call.finish() }, cancel: { outgoing.finish() })
  }

  private func drops(_ response: WriteResponse) -> Bool {
    guard response.commitTime != nil else { return false }
    return state.withLock { state in
      defer { state.answers += 1 }
      guard state.drops.contains(state.answers) else { return false }
      state.dropped += 1
      return true
    }
  }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    try await backend.batchGet(request, context: context, receive: receive)
  }

  func listDocuments(
    _ request: ListDocumentsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListDocumentsResponse {
    try await backend.listDocuments(request, context: context)
  }

  func listCollectionIDs(
    _ request: ListCollectionIDsRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> ListCollectionIDsResponse {
    try await backend.listCollectionIDs(request, context: context)
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    try await backend.runQuery(request, context: context, receive: receive)
  }

  func runAggregation(
    _ request: RunAggregationQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> RunAggregationQueryResponse {
    try await backend.runAggregation(request, context: context)
  }

  func partitionQuery(
    _ request: PartitionQueryRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> PartitionQueryResponse {
    try await backend.partitionQuery(request, context: context)
  }

  func commit(
    _ request: CommitRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> CommitResponse {
    try await backend.commit(request, context: context)
  }

  func batchWrite(
    _ request: BatchWriteRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BatchWriteResponse {
    try await backend.batchWrite(request, context: context)
  }

  func beginTransaction(
    _ request: BeginTransactionRequest, context: CallContext
  ) async throws(FirestoreServiceError) -> BeginTransactionResponse {
    try await backend.beginTransaction(request, context: context)
  }

  func rollback(_ request: RollbackRequest, context: CallContext) async throws(FirestoreServiceError) {
    try await backend.rollback(request, context: context)
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    try await backend.listen(database: database, context: context)
  }
}

/// A clock whose short timers, those before a stream opens again, are due at once, and whose long ones never are.
struct ImmediateClock: SyncClock {
  var now: Timestamp { Timestamp(seconds: 1_700_000_000) }
  var monotonicSeconds: Double { 0 }

  func schedule(seconds: Double, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
    guard seconds < 9 else { return {} }
    let task = Task { if !Task.isCancelled { action() } }
    return { task.cancel() }
  }
}
