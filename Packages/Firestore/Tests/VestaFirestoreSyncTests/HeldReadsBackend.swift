import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaTesting

/// Counts calls; holds the answers to reads at a gate, after the engine has given them.
final class HeldReadsBackend: ForwardingFirestoreBackend {
  private let backend: any FirestoreBackend
  let calls = Log<String>()
  let deadlines = Log<Int64?>()
  let answers = Gate(isOpen: true)
  /// Whether answers pass the gate.
  let isHolding = Locked(true)
  let commits = Gate(isOpen: true)
  /// The failure of every read.
  let failure = Locked<FirestoreServiceError?>(nil)
  /// How many answers are lost after the gate.
  let losses = Locked(0)

  init(_ backend: any FirestoreBackend) { self.backend = backend }

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { backend }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    calls.add("get")
    deadlines.add(context.deadline)
    if let failure = failure.withLock({ $0 }) { throw failure }
    var responses: [BatchGetDocumentsResponse] = []
    try await backend.batchGet(request, context: context) { responses.append($0) }
    if isHolding.withLock({ $0 }) { await answers.wait() }
    let isLost = losses.withLock { count in
      count -= 1
      return count >= 0
    }
    if isLost { throw FirestoreServiceError(.unavailable, "Not now.") }
    for response in responses { try await receive(response) }
  }

  func listen(database: String, context: CallContext) async throws(FirestoreServiceError) -> ListenCall {
    calls.add("listen")
    return try await backend.listen(database: database, context: context)
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    await commits.wait()
    return try await backend.write(database: database, context: context)
  }
}
