/// A call in which both sides speak for as long as they like.
///
/// Who ends what:
/// - The caller sends, and calls `finish()` when it has nothing more to say. The backend then sends what it still owes
///   for the requests it got, and ends the responses. A listen call has no debts: it ends at once.
/// - `cancel()`, cancelling the task that iterates, or dropping `responses` without having come to its end, ends the
///   call from the caller's side; the backend frees everything the call holds. Requests sent before may or may not be
///   served.
/// - The backend ends the responses: normally after `finish()`, by throwing a `FirestoreError` when the call as a whole
///   failed. Requests that come later are ignored.
///
/// `send`, `finish` and `cancel` never wait, may be called from any task or thread, and do nothing after the end.
/// Requests reach the backend in the order of the calls to `send`. `send` holds no lock while the backend works.
///
/// Responses come in batches: each is what the backend had ready, in order; where one batch ends has no meaning. A
/// batch saves a hand-over between threads for every message of a snapshot. Iterate once: there is one consumer.
///
/// Nothing is dropped. A backend that would have to keep too much for a consumer that does not read ends the call with
/// `RESOURCE_EXHAUSTED`; a listener then opens another one with its resume tokens.
///
/// ```swift
/// let call = try await backend.listen(database: database, context: context)
/// call.send(.addTarget(Target(id: 2, .documents(["\(database)/documents/rooms/a"]))))
/// for try await batch in call.responses {
///   for response in batch { apply(response) }
/// }
/// ```
public struct DuplexCall<Request: Sendable, Response: Sendable>: Sendable {
  /// What the backend says, until it ends.
  public let responses: AsyncThrowingStream<[Response], any Error>

  private let onSend: @Sendable (Request) -> Void
  private let onFinish: @Sendable () -> Void
  private let onCancel: @Sendable () -> Void

  /// A call made of its parts; backends make these.
  ///
  /// - Parameters:
  ///   - responses: Ends, or throws `FirestoreError`, when the call is over; its `onTermination` frees the call.
  ///   - send: Takes a request without waiting.
  ///   - finish: Notes that no request follows; may be called again.
  ///   - cancel: Ends the call; may be called again, and after the end.
  public init(
    responses: AsyncThrowingStream<[Response], any Error>,
    send: @escaping @Sendable (Request) -> Void,
    finish: @escaping @Sendable () -> Void,
    cancel: @escaping @Sendable () -> Void
  ) {
    self.responses = responses
    onSend = send
    onFinish = finish
    onCancel = cancel
  }

  /// Hands a request to the backend.
  public func send(_ request: Request) { onSend(request) }

  /// Says that no request follows.
  public func finish() { onFinish() }

  /// Ends the call; `responses` then ends without an error.
  public func cancel() { onCancel() }
}

/// A call that follows targets.
public typealias ListenCall = DuplexCall<ListenRequest, ListenResponse>

/// A call that writes, with several requests under way.
public typealias WriteCall = DuplexCall<WriteRequest, WriteResponse>
