import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInterop
import VestaStoreInterop

extension FirestoreCall {
  /// Opens a call that commits each request in turn; at the deadline it ends with `DEADLINE_EXCEEDED`.
  ///
  /// A request is pending until its response was read: a client that writes and does not read is held back by its
  /// transport, instead of having its requests and their responses kept here.
  func openWriteCall() -> WriteCall {
    let source = DuplexSource<WriteRequest, WriteResponse>(isAcknowledging: true) {
      FirestoreServiceError(.resourceExhausted, $0)
    }
    let (requests, incoming) = AsyncStream.makeStream(of: WriteRequest.self)
    let call = source.call
    let task = Task {
      do {
        var number: Int64 = 0
        for await request in requests {
          source.send([try await answer(request, number: number)])
          number += 1
        }
        source.end()
      } catch {
        source.end(throwing: boundary.failure(error, context))
      }
    }
    let timer = context.deadline.map {
      options.clock.schedule(at: $0) { source.end(throwing: FirestoreServiceError.late) }
    }
    source.start {
      incoming.yield($0)
    } onFinish: {
      incoming.finish()
    } onEnd: {
      timer?.cancel()
      incoming.finish()
      task.cancel()
    }
    let responses = AcknowledgedResponses(call.responses)
    return WriteCall(
      responses: AsyncThrowingStream { try await responses.next { source.hasTaken($0) } },
      send: { call.send($0) },
      finish: { call.finish() },
      cancel: { call.cancel() },
      pending: { call.pendingRequests },
      ready: { try await call.ready(below: $0) })
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

/// The responses of a call, each batch of which is counted when it is read.
// Sound as @unchecked Sendable: an AsyncThrowingStream has one consumer, and so has the stream that is made of it.
private final class AcknowledgedResponses: @unchecked Sendable {
  private var iterator: AsyncThrowingStream<[WriteResponse], any Error>.Iterator

  init(_ responses: AsyncThrowingStream<[WriteResponse], any Error>) { iterator = responses.makeAsyncIterator() }

  func next(_ hasRead: (Int) -> Void) async throws -> [WriteResponse]? {
    guard let batch = try await iterator.next(isolation: #isolation) else { return nil }
    hasRead(batch.count)
    return batch
  }
}
