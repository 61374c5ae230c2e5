import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreSync

/// A backend that serves requests to write, and whose connection breaks before some of the answers.
final class DroppingBackend: ForwardingFirestoreBackend {
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
  ///   - beforeDrop: Called between a commit and the end of its call.
  init(
    _ backend: any FirestoreBackend, drops: Set<Int>, beforeDrop: @escaping @Sendable () async -> Void = {}
  ) {
    self.backend = backend
    self.beforeDrop = beforeDrop
    state = Locked(State(drops: drops))
  }

  /// How many answers have been lost.
  var dropped: Int { state.withLock { $0.dropped } }

  func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { backend }

  func write(database: String, context: CallContext) async throws(FirestoreServiceError) -> WriteCall {
    let call = try await backend.write(database: database, context: context)
    let (responses, outgoing) = call.relayedResponses { [self] batch, outgoing in
      for response in batch {
        if drops(response) {
          await beforeDrop()
          throw FirestoreServiceError(.unavailable, "The connection is lost.")
        }
        outgoing.yield([response])
      }
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
}

extension ServiceClock {
  /// A clock that stands still, whose timers are due at once when they are shorter than a limit, and never otherwise.
  static func immediate(below limit: Duration) -> ServiceClock {
    ServiceClock(now: { 1_700_000_000_000_000 }) { delay, work in
      guard delay < limit else { return ListenerRegistration {} }
      let task = Task { if !Task.isCancelled { work() } }
      return ListenerRegistration { task.cancel() }
    }
  }

  /// A clock whose short timers, the ones before a stream opens again, are due at once, and whose long ones never are.
  static let hasty = immediate(below: .seconds(9))
}

extension DuplexCall {
  typealias Outgoing = AsyncThrowingStream<[Response], any Error>.Continuation

  /// The responses of the call, which a task passes on; the call ends with their consumer.
  func relayedResponses(
    _ passOn: @escaping @Sendable ([Response], Outgoing) async throws -> Void
  ) -> (AsyncThrowingStream<[Response], any Error>, Outgoing) {
    let (responses, outgoing) = AsyncThrowingStream.makeStream(of: [Response].self, throwing: (any Error).self)
    let task = Task {
      do {
        for try await batch in self.responses { try await passOn(batch, outgoing) }
        outgoing.finish()
      } catch {
        outgoing.finish(throwing: error)
      }
    }
    outgoing.onTermination = { _ in
      self.cancel()
      task.cancel()
    }
    return (responses, outgoing)
  }
}
