import VestaConcurrency

/// The backend's end of a duplex call: takes the requests, sends the responses, and knows when the caller has gone.
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

  private struct State {
    var unread = 0
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
  private let stream: Locked<AsyncThrowingStream<[Response], any Error>?>

  /// A call without a backend; requests are lost before ``start(_:onFinish:onEnd:)``.
  ///
  /// - Parameters:
  ///   - limit: How many responses may wait for the consumer.
  ///   - overflow: The product's failure with `RESOURCE_EXHAUSTED` and a message.
  public init(limit: Int = .max, overflow: @escaping @Sendable (_ message: String) -> any Error) {
    self.limit = limit
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

  /// The caller's end; it can be taken once, and the source lives at least as long as its requests can come.
  public var call: DuplexCall<Request, Response> {
    let responses = stream.withLock { $0.take() }
    return DuplexCall(
      responses: responses ?? AsyncThrowingStream { nil },
      send: { self.take(.request($0)) },
      finish: { self.take(.finish) },
      cancel: { self.end() })
  }

  /// Begins to serve.
  ///
  /// - Parameters:
  ///   - onRequest: Called with each request, one at a time and in order.
  ///   - onFinish: Called once, after the last request, when the caller has nothing more to send.
  ///   - onEnd: Called once when the call is over, whoever ended it.
  public func start(
    _ onRequest: @escaping @Sendable (Request) -> Void,
    onFinish: @escaping @Sendable () -> Void = {},
    onEnd: @escaping @Sendable () -> Void = {}
  ) {
    events.add { event in
      switch event {
      case .request(let request): onRequest(request)
      case .finish: onFinish()
      }
    }
    let isOver = state.withLock { state in
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
      if case .finish = event { state.hasFinished = true }
      return true
    }
    if isWanted { events.emit(event) }
  }

  private func hasRead(_ count: Int) { state.withLock { $0.unread -= count } }

  private func isEnded() {
    let onEnd = state.withLock { state -> (@Sendable () -> Void)? in
      state.isOver = true
      return state.onEnd.take()
    }
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
