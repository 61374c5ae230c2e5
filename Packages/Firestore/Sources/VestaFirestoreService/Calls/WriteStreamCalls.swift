import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop

extension FirestoreCall {
  /// Opens a call that commits each request in turn; at the deadline it ends with `DEADLINE_EXCEEDED`.
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
        outgoing.finish(throwing: boundary.failure(error, context))
      }
    }
    let timer = context.deadline.map {
      options.clock.schedule(at: $0) { outgoing.finish(throwing: FirestoreServiceError.late) }
    }
    outgoing.onTermination = { _ in
      timer?.cancel()
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

  /// Commits the writes of a request; those with an identifier once, however often they are sent.
  private func commit(_ writes: [Write], once id: WriteRequestID?) async throws -> CommitResponse {
    guard let id else { return try await commit(writes) }
    let answers = try WriteAnswers(of: id, keys)
    do {
      return try await commit(writes, as: answers)
    } catch let known as WriteAnswers.KnownRefusal {
      throw known.refusal
    } catch {
      let refusal = boundary.failure(error, context)
      guard refusal.code.isRefusal else { throw refusal }
      let time = options.now()
      return try await store.write { try await answers.keep(refusal, at: time, in: $0) }.value.get()
    }
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
    let commit = try await commit(request.writes, once: request.id)
    return WriteResponse(
      streamToken: token.bytes, writeResults: commit.writeResults, commitTime: commit.commitTime)
  }
}
