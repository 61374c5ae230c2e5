/// An asynchronous wait that ends once: it is served, or its task is cancelled, whichever is earlier.
///
/// The code that serves the wait calls ``begin()`` when it is ready; `nil` means that the waiter has left and there is
/// nothing to do. A turn is made before its wait starts, so a cancellation may happen at any time, also before the
/// continuation exists, and is never lost. Every waiting queue of the house is made of turns.
///
/// ```swift
/// let value = try await Turn<Int>().wait { turn in
///   waiting.withLock { $0.append(turn) }
/// }
/// // elsewhere:
/// turn.begin()?.resume(returning: 7)
/// ```
public final class Turn<Value: Sendable>: Sendable {
  /// Ends a served wait with a value or an error.
  public typealias Continuation = CheckedContinuation<Value, any Error>

  // Inlinable, here and below: each wait would otherwise look up the type of its value while it runs.
  @usableFromInline
  enum State {
    case notStarted
    case waiting(Continuation)
    case over
  }

  @usableFromInline
  let state: Locked<State>

  /// A turn before its wait; it serves one wait.
  @inlinable
  public init() { state = Locked(State.notStarted) }

  /// Hands the turn to `submit`, and waits until it is served.
  ///
  /// - Parameters:
  ///   - submit: Makes the turn known to its server. Called once, on the calling task, unless the task is
  ///     cancelled already.
  ///   - onCancel: Called after a cancellation that ended the wait, so that the turn can be taken out of a queue.
  /// - Returns: The value of the continuation.
  /// - Throws: The error that the continuation was resumed with; `CancellationError`, at once, when the task is
  ///   cancelled before the turn has begun.
  @inlinable
  public func wait(
    submit: (Turn) -> Void, onCancel: @escaping @Sendable (Turn) -> Void = { _ in }
  ) async throws -> Value {
    #if THREAD_SANITIZER
      // The sanitizer does not see a continuation that is resumed before it is awaited; it sees this lock.
      defer { _ = isOver }
    #endif
    return try await withTaskCancellationHandler {
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
  @inlinable
  public var isOver: Bool {
    state.withLock { if case .over = $0 { true } else { false } }
  }

  /// Ends the wait; the caller must resume the continuation.
  ///
  /// - Returns: The continuation; `nil` when the waiter has left.
  @inlinable
  public func begin() -> Continuation? {
    state.withLock { state in
      guard case .waiting(let continuation) = state else { return nil }
      state = .over
      return continuation
    }
  }

  @inlinable
  func start(_ continuation: Continuation) -> Bool {
    state.withLock { state in
      guard case .notStarted = state else { return false }
      state = .waiting(continuation)
      return true
    }
  }

  /// - Returns: Whether the turn may be known already.
  @inlinable
  func cancel() -> Bool {
    let waiting = state.withLock { state -> Continuation? in
      defer { state = .over }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiting?.resume(throwing: CancellationError())
    return waiting != nil
  }
}
