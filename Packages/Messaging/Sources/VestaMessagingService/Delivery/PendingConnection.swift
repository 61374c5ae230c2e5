import VestaConcurrency
import VestaMessagingBackend

/// A connection whose registration is being looked up, or that is open.
final class PendingConnection: Sendable {
  private struct State {
    var receive: (@Sendable (PushDelivery) -> Void)?
    var end: (@Sendable (MessagingServiceError?) -> Void)?
    var session: Session?
    var isCancelled = false
  }

  private let state: Locked<State>

  init(
    onEnd: @escaping @Sendable (MessagingServiceError?) -> Void, receive: @escaping @Sendable (PushDelivery) -> Void
  ) {
    state = Locked(State(receive: receive, end: onEnd))
  }

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Answers false when the connection was cancelled in between.
  func begin(_ session: Session) -> Bool {
    state.withLock { state in
      guard !state.isCancelled else { return false }
      state.session = session
      return true
    }
  }

  func receive(_ delivery: PushDelivery) {
    let receive = state.withLock { $0.receive }
    receive?(delivery)
  }

  func end(_ error: MessagingServiceError?) {
    let end = state.withLock { state in
      state.receive = nil
      return state.end.take()
    }
    end?(error)
  }

  func cancel() -> Session? {
    let (session, handlers) = state.withLock { state in
      state.isCancelled = true
      defer { (state.receive, state.end) = (nil, nil) }
      return (state.session, (state.receive, state.end))
    }
    withExtendedLifetime(handlers) {}
    return session
  }
}
