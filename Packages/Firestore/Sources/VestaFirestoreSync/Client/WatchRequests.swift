import VestaConcurrency
import VestaFirestoreBackend

/// The requests of a watch stream on their way to the backend.
///
/// A read is a listener that is removed after its first event. Its removal need not be fast, and would cost a message
/// and a response: it waits for the next request, for `SyncTuning.removalSeconds` at most. The waiting removals are
/// sent on the thread of the connection, where it leaves by one write.
///
/// Worked example: a document is read, and then another one. The removal of the first target waits; the request for the
/// second one is made 10 microseconds later, and both leave together, in order.
///
/// Requests to an engine in the process are sent at once.
final class WatchRequests: Sendable {
  typealias Call = DuplexCall<ListenRequest, ListenResponse>

  private struct Waiting: Sendable {
    let stream: Int
    let request: ListenRequest
  }

  private struct State: Sendable {
    /// In the order of their calls; requests for earlier streams are dropped.
    var waiting: [Waiting] = []
    /// Whether the clock is going to call.
    var isTimed = false
  }

  private let clock: ServiceClock
  private let delay: Duration
  private let executor: @Sendable () -> (any TaskExecutor)?
  private let call: @Sendable (Int) -> Call?
  private let state = Locked(State())

  /// Requests to a backend.
  ///
  /// - Parameters:
  ///   - options: The clock, and the time that removals wait.
  ///   - executor: Returns the thread of the connection; `nil` where there is none.
  ///   - call: Returns the open call of a stream.
  init(
    _ options: SyncOptions, on executor: @escaping @Sendable () -> (any TaskExecutor)?,
    _ call: @escaping @Sendable (Int) -> Call?
  ) {
    clock = options.clock
    delay = .seconds(options.tuning.removalSeconds)
    self.executor = executor
    self.call = call
  }

  /// Sends a request, after the ones that wait.
  func send(_ request: ListenRequest, _ stream: Int) {
    guard let executor = executor() else { return call(stream)?.send(request) ?? () }
    state.withLock { $0.waiting.append(Waiting(stream: stream, request: request)) }
    Task(executorPreference: executor) { self.flush() }
  }

  /// Sends a request with the next one, or soon.
  func sendSoon(_ request: ListenRequest, _ stream: Int) {
    guard executor() != nil else { return send(request, stream) }
    let isTimed = state.withLock { state in
      state.waiting.append(Waiting(stream: stream, request: request))
      defer { state.isTimed = true }
      return state.isTimed
    }
    if isTimed { return }
    // Never cancelled: a call that finds nothing costs less than to plan one for each removal.
    _ = clock.schedule(after: delay) { [weak self] in
      self?.state.withLock { $0.isTimed = false }
      self?.flush()
    }
  }

  /// Sends what waits.
  private func flush() {
    // Under the lock, which sending does not need: the requests of two threads stay in order.
    state.withLock { state in
      for waiting in state.waiting { call(waiting.stream)?.send(waiting.request) }
      state.waiting.removeAll(keepingCapacity: true)
    }
  }
}
