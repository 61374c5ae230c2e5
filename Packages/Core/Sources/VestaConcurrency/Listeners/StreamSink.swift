/// The producer's end of a stream: a listener writes to it.
///
/// It may be used from any thread. After the end, and after the consumer has left, everything sent is ignored.
public struct StreamSink<Element: Sendable>: Sendable {
  private let put: @Sendable (Element) -> Void
  private let end: @Sendable ((any Error)?) -> Void

  init(put: @escaping @Sendable (Element) -> Void, end: @escaping @Sendable ((any Error)?) -> Void) {
    self.put = put
    self.end = end
  }

  /// Sends an element to the consumer.
  ///
  /// - Parameter element: The element.
  public func send(_ element: Element) { put(element) }

  /// Ends the stream, after the elements sent so far.
  ///
  /// - Parameter error: The error that the consumer's loop throws. A stream that cannot throw just ends.
  public func finish(throwing error: (any Error)? = nil) { end(error) }

  /// Sends the value, or ends the stream with the error.
  ///
  /// - Parameter result: The value or the error that the listener received.
  public func send(_ result: Result<Element, any Error>) {
    switch result {
    case .success(let element): send(element)
    case .failure(let error): finish(throwing: error)
    }
  }
}

/// Keeps the registration of a stream's listener and cancels it once, also if the stream has ended before the
/// registration was there.
final class StreamLifeline: Sendable {
  private enum State {
    case starting
    case listening(ListenerRegistration)
    case over
  }

  private let state = Locked(State.starting)

  func attach(_ registration: ListenerRegistration) {
    let isLate = state.withLock { state -> Bool in
      if case .over = state { return true }
      state = .listening(registration)
      return false
    }
    if isLate { registration.cancel() }
  }

  func cut() {
    let last = state.withLock { state -> State in
      defer { state = .over }
      return state
    }
    if case .listening(let registration) = last { registration.cancel() }
  }
}
