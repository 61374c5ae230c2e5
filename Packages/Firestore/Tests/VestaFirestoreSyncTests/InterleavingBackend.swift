import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaTesting

/// An engine whose answers to writes wait at a gate, and that lets something happen between the look at its documents
/// and the answer to the reader.
final class InterleavingBackend: ForwardingFirestoreBackend {
  /// The closure in a separate structure, as `Locked` asks for.
  private struct Hook: Sendable {
    let run: @Sendable () async -> Void
  }

  private let engine: any FirestoreBackend
  /// Requests with writes pass it.
  let answers = Gate(isOpen: true)
  /// The answers to writes that the engine has committed pass it.
  let results = Gate(isOpen: true)
  /// The numbers of writes in the requests that wait there, or have passed.
  let asked = Log<Int>()
  private let afterRead = Locked<Hook?>(nil)

  init(_ engine: any FirestoreBackend) { self.engine = engine }

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

  /// Lets something happen once, after the next look at documents.
  func afterNextRead(_ body: @escaping @Sendable () async -> Void) { afterRead.withLock { $0 = Hook(run: body) } }

  private func hook() async {
    let hook = afterRead.withLock { $0.take() }
    await hook?.run()
  }

  func batchGet(
    _ request: BatchGetDocumentsRequest, context: CallContext,
    receive: (BatchGetDocumentsResponse) async throws -> Void
  ) async throws {
    var responses: [BatchGetDocumentsResponse] = []
    try await engine.batchGet(request, context: context) { responses.append($0) }
    await hook()
    for response in responses { try await receive(response) }
  }

  func runQuery(
    _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
  ) async throws {
    var responses: [RunQueryResponse] = []
    try await engine.runQuery(request, context: context) { responses.append($0) }
    await hook()
    for response in responses { try await receive(response) }
  }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    let call = try await engine.write(database: database, context: context)
    let (requests, incoming) = AsyncStream.makeStream(of: WriteRequest.self)
    // Requests with writes wait as well: the engine has not committed before the gate opens.
    let task = Task { [answers, asked] in
      for await request in requests {
        if !request.writes.isEmpty {
          asked.add(request.writes.count)
          await answers.wait()
        }
        call.send(request)
      }
      call.finish()
    }
    let (responses, outgoing) = AsyncThrowingStream.makeStream(of: [WriteResponse].self)
    let answering = Task { [results] in
      do {
        for try await batch in call.responses {
          if batch.contains(where: { !$0.writeResults.isEmpty }) { await results.wait() }
          outgoing.yield(batch)
        }
        outgoing.finish()
      } catch {
        outgoing.finish(throwing: error)
      }
    }
    return WriteCall(
      responses: responses, send: { incoming.yield($0) }, finish: { incoming.finish() },
      cancel: {
        incoming.finish()
        task.cancel()
        answering.cancel()
        call.cancel()
      })
  }
}
