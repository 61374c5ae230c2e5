import Dispatch
import VestaConcurrency

/// The completion-handler form of an operation, derived from its async form.
enum CompletionForm {
  /// Starts an operation on the work queue at once, and calls the handler on the callback queue when it has ended.
  ///
  /// Operations begin in the order in which they were started.
  static func start<Value: Sendable>(
    on queue: DispatchQueue,
    _ completion: (@Sendable (Value?, (any Error)?) -> Void)?,
    _ operation: @escaping @Sendable @AuthActor () async throws -> Value
  ) {
    let handler = OneCall(completion)
    // A task whose closure is isolated to an actor begins in that actor's queue, with no detour.
    Task { @AuthActor in
      do {
        let value = try await operation()
        queue.async { handler.take()?(value, nil) }
      } catch {
        queue.async { handler.take()?(nil, error) }
      }
    }
  }

  /// The form for operations that give nothing but perhaps an error.
  static func start(
    on queue: DispatchQueue,
    _ completion: (@Sendable ((any Error)?) -> Void)?,
    _ operation: @escaping @Sendable @AuthActor () async throws -> Void
  ) {
    var valueCompletion: (@Sendable (Bool?, (any Error)?) -> Void)?
    if let completion { valueCompletion = { _, error in completion(error) } }
    start(on: queue, valueCompletion) { () async throws -> Bool in
      try await operation()
      return true
    }
  }
}

/// A handler that is called once, and let go of where it is called.
///
/// A task on the work queue that held the handler itself could be the last to do so, and what the handler captured
/// would be freed there: a `deinit` of the app could then call Auth from Auth's own queue.
private final class OneCall<Handler: Sendable>: Sendable {
  private let handler: Locked<Handler?>

  init(_ handler: Handler?) { self.handler = Locked(handler) }

  func take() -> Handler? { handler.withLock { $0.take() } }
}
