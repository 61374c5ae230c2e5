import VestaConcurrency

/// The backend's end of a duplex call: takes the requests, sends the responses, and knows when the caller has left.
///
/// Requests are delivered one at a time and in order, with no lock held. Responses that the consumer has not read are
/// kept as one batch; beyond the limit the call ends with `RESOURCE_EXHAUSTED`.
///
/// ```swift
/// let source = DuplexSource<ListenRequest, ListenResponse>(limit: 10_000) { overflow in
///   FirestoreServiceError(.resourceExhausted, overflow)
/// }
/// source.start { request in hub.serve(request, of: call) } onFinish: { hub.drain(call) } onEnd: { hub.forget(call) }
/// return source.call
/// ```
public final class DuplexSource<Request: Sendable, Response: Sendable>: Sendable {
  private enum Event: Sendable {
    case request(Request)
    case finish
  }

  /// A sender that waits until fewer requests than its limit are pending.
  private struct Waiter {
    let limit: Int
    let turn: Turn<Void>
  }

  private struct State {
    var unread = 0
    /// The requests that the backend has not taken.
    var pending = 0
    /// Requests before the start are lost, and do not count.
    var isServing = false
    var waiters: [Waiter] = []
    var isOver = false
    var hasFinished = false
    var onEnd: (@Sendable () -> Void)?
    var sink: StreamSink<Batch>?
  }

  /// A batch knows its size, so that the consumer's reading can be counted.
  private struct Batch: Sendable {
    var responses: [Response]
  }

  private let events = ListenerRegistry<Event>()
  private let state = Locked(State())
  private let limit: Int
  private let overflow: @Sendable (String) -> any Error
  private let isAcknowledging: Bool
  private let stream: Locked<AsyncThrowingStream<[Response], any Error>?>

  /// A call without a backend; requests are lost before ``start(_:onFinish:onEnd:)``.
  ///
  /// - Parameters:
  ///   - limit: How many responses may wait for the consumer.
  ///   - isAcknowledging: Whether a request counts as taken when the backend says so with ``hasTaken(_:)``, and not
  ///     when it returns from `onRequest`: for a backend that queues requests.
  ///   - overflow: The product's failure with `RESOURCE_EXHAUSTED` and a message.
  public init(
    limit: Int = .max, isAcknowledging: Bool = false, overflow: @escaping @Sendable (_ message: String) -> any Error
  ) {
    self.limit = limit
    self.isAcknowledging = isAcknowledging
    self.overflow = overflow
    stream = Locked(nil)
    let batches: AsyncThrowingStream<Batch, any Error> = .snapshots(
      merge: { waiting, new in Batch(responses: waiting.responses + new.responses) },
      { sink in
        state.withLock { $0.sink = sink }
        return ListenerRegistration { [weak self] in self?.isEnded() }
      })
    let reader = BatchReader(batches)
    let responses = AsyncThrowingStream<[Response], any Error> { [weak self] in
      guard let batch = try await reader.next() else { return nil }
      self?.hasRead(batch.responses.count)
      return batch.responses
    }
    stream.withLock { $0 = responses }
  }

  /// The caller's end; it can be taken once, and the source lives at least as long as requests can arrive.
  public var call: DuplexCall<Request, Response> {
    let responses = stream.withLock { $0.take() }
    return DuplexCall(
      responses: responses ?? AsyncThrowingStream { nil },
      send: { self.take(.request($0)) },
      finish: { self.take(.finish) },
      cancel: { self.end() },
      pending: { self.pendingRequests },
      ready: { try await self.ready(below: $0) })
  }

  /// Begins to serve.
  ///
  /// - Parameters:
  ///   - onRequest: Called with each request, one at a time and in order.
  ///   - onFinish: Called once, after the last request, when the caller has nothing more to send.
  ///   - onEnd: Called once when the call is over, whichever side ended it.
  public func start(
    _ onRequest: @escaping @Sendable (Request) -> Void,
    onFinish: @escaping @Sendable () -> Void = {},
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    events.add { [weak self, isAcknowledging] event in
      switch event {
      case .request(let request):
        onRequest(request)
        if !isAcknowledging { self?.hasTaken() }
      case .finish: onFinish()
      }
    }
    let isOver = state.withLock { state in
      state.isServing = true
      if !state.isOver { state.onEnd = onEnd }
      return state.isOver
    }
    if isOver { onEnd() }
  }

  /// Sends responses; after the end they are ignored.
  public func send(_ responses: [Response]) {
    guard !responses.isEmpty else { return }
    let (sink, isTooMuch) = state.withLock { state -> (StreamSink<Batch>?, Bool) in
      guard !state.isOver else { return (nil, false) }
      state.unread += responses.count
      return (state.sink, state.unread > limit)
    }
    guard let sink else { return }
    if isTooMuch { return end(throwing: overflow("More than \(limit) responses wait to be read.")) }
    sink.send(Batch(responses: responses))
  }

  /// Ends the call, after the responses sent before.
  ///
  /// - Parameter error: The product's failure, if the call as a whole has failed.
  public func end(throwing error: (any Error)? = nil) {
    let sink = state.withLock { $0.sink }
    sink?.finish(throwing: error)
    isEnded()
  }

  private func take(_ event: Event) {
    let isWanted = state.withLock { state in
      guard !state.isOver, !state.hasFinished else { return false }
      if case .finish = event { state.hasFinished = true } else if state.isServing { state.pending += 1 }
      return true
    }
    if isWanted { events.emit(event) }
  }

  /// The number of requests that the backend has not taken.
  public var pendingRequests: Int { state.withLock { $0.pending } }

  /// Says that the backend has taken requests, so that their sender may send more.
  ///
  /// - Parameter count: The number of requests; only for a source that is acknowledging.
  public func hasTaken(_ count: Int = 1) {
    let ready = state.withLock { state -> [Waiter] in
      state.pending = max(0, state.pending - count)
      guard !state.waiters.isEmpty else { return [] }
      let pending = state.pending
      defer { state.waiters.removeAll { pending < $0.limit } }
      return state.waiters.filter { pending < $0.limit }
    }
    for waiter in ready { waiter.turn.begin()?.resume() }
  }

  private func ready(below limit: Int) async throws {
    try Task.checkCancellation()
    guard state.withLock({ !$0.isOver && $0.pending >= limit }) else { return }
    try await Turn<Void>().wait { turn in
      let waits = state.withLock { state in
        guard !state.isOver, state.pending >= limit else { return false }
        state.waiters.append(Waiter(limit: limit, turn: turn))
        return true
      }
      if !waits { turn.begin()?.resume() }
      if turn.isOver { leave(turn) }
    } onCancel: { [weak self] turn in
      self?.leave(turn)
    }
  }

  private func leave(_ turn: Turn<Void>) { state.withLock { $0.waiters.removeAll { $0.turn === turn } } }

  private func hasRead(_ count: Int) { state.withLock { $0.unread -= count } }

  private func isEnded() {
    let (onEnd, waiters) = state.withLock { state -> ((@Sendable () -> Void)?, [Waiter]) in
      state.isOver = true
      defer { state.waiters = [] }
      return (state.onEnd.take(), state.waiters)
    }
    for waiter in waiters { waiter.turn.begin()?.resume() }
    onEnd?()
  }
}

/// Reads a stream for the stream that is made of it; one task at a time does.
// Sound as @unchecked Sendable: an AsyncThrowingStream has one consumer, and so has the stream that is made of it.
private final class BatchReader<Batch: Sendable>: @unchecked Sendable {
  private var iterator: AsyncThrowingStream<Batch, any Error>.Iterator

  init(_ stream: AsyncThrowingStream<Batch, any Error>) { iterator = stream.makeAsyncIterator() }

  func next() async throws -> Batch? { try await iterator.next(isolation: #isolation) }
}
