import VestaFirestoreBackend
import VestaFirestoreModel

extension DatabaseEngine {
  /// Opens a call that commits each request in turn.
  func openWriteCall() -> WriteCall {
    let (requests, incoming) = AsyncStream.makeStream(of: WriteRequest.self)
    let (responses, outgoing) = AsyncThrowingStream.makeStream(of: [WriteResponse].self, throwing: (any Error).self)
    let task = Task {
      do {
        var number: Int64 = 0
        for await request in requests {
          let response = try await answer(request, number: number)
          outgoing.yield([response])
          number += 1
        }
        outgoing.finish()
      } catch {
        outgoing.finish(throwing: FirestoreServiceError(serving: error))
      }
    }
    outgoing.onTermination = { _ in
      incoming.finish()
      task.cancel()
    }
    return WriteCall(
      responses: responses,
      send: { incoming.yield($0) },
      finish: { incoming.finish() },
      cancel: { outgoing.finish() }
    )
  }

  private func answer(_ request: WriteRequest, number: Int64) async throws -> WriteResponse {
    var token = RowWriter(reserving: 8)
    token.write(int: number)
    guard number > 0 else {
      guard request.writes.isEmpty else {
        throw FirestoreServiceError.refused(
          "The first request of a write call opens the stream and cannot have writes.")
      }
      return WriteResponse(streamID: "\(options.now())", streamToken: token.bytes)
    }
    let commit = try await commit(request.writes)
    return WriteResponse(
      streamToken: token.bytes, writeResults: commit.writeResults, commitTime: commit.commitTime)
  }
}
