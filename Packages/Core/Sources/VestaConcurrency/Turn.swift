/// An asynchronous wait that ends once: because its turn has come, or because its task was cancelled, whichever is first.
///
/// What is waited for gets the turn and calls `begin()` when it is ready to serve it. If that gives `nil`, the waiter
/// has left, and there is nothing to do. A turn is made before its wait starts, so a cancellation can come at any
/// moment, also before the continuation exists, and is never lost.
final class Turn<Value: Sendable>: Sendable {
  typealias Continuation = CheckedContinuation<Value, any Error>

  private enum State {
    case notStarted
    case waiting(Continuation)
    case over
  }

  private let state = Locked(State.notStarted)

  /// Hands the turn to `submit` and waits for it to be served.
  ///
  /// - Throws: `CancellationError`, at once, when the task is cancelled before the turn has begun.
  func wait(
    submit: (Turn) -> Void, onCancel: @escaping @Sendable (Turn) -> Void = { _ in }
  ) async throws -> Value {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        if start(continuation) {
          submit(self)
        } else {
          continuation.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      if cancel() { onCancel(self) }
    }
  }

  /// Whether the turn was served or cancelled.
  var isOver: Bool {
    state.withLock { if case .over = $0 { true } else { false } }
  }

  /// Ends the wait; the caller must resume what it gets.
  ///
  /// `nil` when the waiter has left.
  func begin() -> Continuation? {
    state.withLock { state in
      guard case .waiting(let continuation) = state else { return nil }
      state = .over
      return continuation
    }
  }

  private func start(_ continuation: Continuation) -> Bool {
    state.withLock { state in
      guard case .notStarted = state else { return false }
      state = .waiting(continuation)
      return true
    }
  }

  /// - Returns: Whether somebody may know of this turn already.
  private func cancel() -> Bool {
    let waiting = state.withLock { state -> Continuation? in
      defer { state = .over }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume(throwing: CancellationError())
    return waiting != nil
  }
}
