/// A call with a stream of requests in one direction and a stream of responses in the other.
///
/// How it ends:
/// - The caller calls `finish()` when it has nothing more to send. The backend then sends what is still missing for the
///   requests that it got, and ends the responses; each protocol says what that is.
/// - `cancel()`, cancelling the task that iterates, or dropping `responses` before its end, ends the call from the
///   caller's side; the backend frees everything the call holds. Requests sent before may or may not be served.
/// - The backend ends the responses: normally after `finish()`, or by throwing the product's failure when the call as a
///   whole failed. Later requests are ignored.
///
/// `send`, `finish` and `cancel` never wait, may be called from any thread, and do nothing after the end. Requests
/// reach the backend in the order of the calls to `send`.
///
/// `send` never waits, so a peer that sends faster than the backend takes must be held back by its reader: a
/// transport calls ``ready(below:)`` before it reads the next request from its connection, and withholds the
/// connection's window until then. A client in the process need not.
///
/// Responses are sent in batches: each is what the backend had ready, in order; where one batch ends has no meaning. A
/// batch saves a hand-over between threads for every message. Iterate once: there is one consumer.
///
/// Nothing is dropped. A backend that would have to keep too much for a consumer that does not read ends the call with
/// `RESOURCE_EXHAUSTED`.
///
/// ```swift
/// let call = try await backend.listen(database: database, context: context)
/// call.send(.addTarget(target))
/// for try await batch in call.responses {
///   for response in batch { apply(response) }
/// }
/// ```
public struct DuplexCall<Request: Sendable, Response: Sendable>: Sendable {
  /// Takes a batch where it is made, without waiting; `false` where it leaves the batch to the task that waits.
  public typealias Receiver = @Sendable ([Response]) -> Bool

  /// The responses of the backend, until it ends.
  public let responses: AsyncThrowingStream<[Response], any Error>

  private let next: (@Sendable (_ take: @escaping Receiver) async throws -> [Response]?)?
  private let onSend: @Sendable (Request) -> Void
  private let onFinish: @Sendable () -> Void
  private let onCancel: @Sendable () -> Void
  private let pending: @Sendable () -> Int
  private let whenReady: @Sendable (Int) async throws -> Void

  /// A call made of its parts; ``DuplexSource`` makes them for a backend.
  ///
  /// - Parameters:
  ///   - responses: Ends, or throws the product's failure, when the call is over; its end frees the call.
  ///   - next: Waits as ``next(besides:)`` does; `nil` where the responses alone are to be used.
  ///   - send: Takes a request without waiting.
  ///   - finish: Notes that no request follows; may be called again.
  ///   - cancel: Ends the call; may be called again, and after the end.
  ///   - pending: Returns the number of requests that the backend has not taken.
  ///   - ready: Waits until fewer requests than a number are pending, or the call is over.
  public init(
    responses: AsyncThrowingStream<[Response], any Error>,
    next: (@Sendable (_ take: @escaping Receiver) async throws -> [Response]?)? = nil,
    send: @escaping @Sendable (Request) -> Void,
    finish: @escaping @Sendable () -> Void,
    cancel: @escaping @Sendable () -> Void,
    pending: @escaping @Sendable () -> Int = { 0 },
    ready: @escaping @Sendable (_ limit: Int) async throws -> Void = { _ in }
  ) {
    self.responses = responses
    self.next = next
    onSend = send
    onFinish = finish
    onCancel = cancel
    self.pending = pending
    whenReady = ready
  }

  /// The next batch that a receiver leaves, in place of ``responses``.
  ///
  /// For a transport with thousands of calls that wait: a batch that its receiver takes wakes no task.
  ///
  /// - Parameter take: Called with each batch, one at a time and in order, on a thread of the backend or in this task,
  ///   with no lock held; never after this has returned.
  /// - Returns: A batch that the receiver has not taken, or that was there before; `nil` at the end.
  /// - Throws: As ``responses``.
  public func next(besides take: @escaping Receiver) async throws -> [Response]? {
    if let next { return try await next(take) }
    for try await batch in responses where !take(batch) { return batch }
    return nil
  }

  /// Sends a request to the backend.
  public func send(_ request: Request) { onSend(request) }

  /// The number of requests that the backend has not taken.
  public var pendingRequests: Int { pending() }

  /// Waits until fewer requests than `limit` are pending; returns at once when they are, and when the call is over.
  ///
  /// - Parameter limit: At least 1.
  /// - Throws: `CancellationError`, at once, when the calling task is cancelled.
  public func ready(below limit: Int = 16) async throws { try await whenReady(max(1, limit)) }

  /// Says that no request follows.
  public func finish() { onFinish() }

  /// Ends the call; `responses` then ends without an error.
  public func cancel() { onCancel() }
}
