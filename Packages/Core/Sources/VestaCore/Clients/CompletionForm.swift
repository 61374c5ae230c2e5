public import Dispatch
import VestaConcurrency

/// The completion-handler form of an operation, derived from its async form.
///
/// Completion forms are in separate files (`Auth+SignIn+Completions.swift`); each is one call:
///
/// ```swift
/// /// Completion form of ``signIn(withEmail:password:)``.
/// @preconcurrency
/// public func signIn(
///   withEmail email: String, password: String, completion: (@Sendable (AuthDataResult?, (any Error)?) -> Void)? = nil
/// ) {
///   CompletionForm.start(on: queue, completion) { try await self.signIn(withEmail: email, password: password) }
/// }
/// ```
///
/// - An operation starts on the calling thread and runs there up to its first suspension, so operations of one actor or
///   queue begin in the order in which they were started.
/// - The handler is called once, on the queue, and released there: never where the operation ended, because what it
///   captured may call the product when it is freed.
public enum CompletionForm {
  /// Starts an operation that returns a value.
  ///
  /// - Parameters:
  ///   - queue: Where the handler is called.
  ///   - completion: Gets the value or the error.
  ///   - operation: The async form.
  public static func start<Value: Sendable>(
    on queue: DispatchQueue,
    _ completion: (@Sendable (Value?, (any Error)?) -> Void)?,
    _ operation: @escaping @Sendable () async throws -> Value
  ) {
    let handler = Locked(completion)
    begin {
      do {
        let value = try await operation()
        queue.async { take(handler)?(value, nil) }
      } catch {
        queue.async { take(handler)?(nil, error) }
      }
    }
  }

  /// Starts an operation that returns nothing.
  ///
  /// - Parameters:
  ///   - queue: Where the handler is called.
  ///   - completion: Gets `nil`, or the error.
  ///   - operation: The async form.
  public static func start(
    on queue: DispatchQueue,
    _ completion: (@Sendable ((any Error)?) -> Void)?,
    _ operation: @escaping @Sendable () async throws -> Void
  ) {
    var valueCompletion: (@Sendable (Bool?, (any Error)?) -> Void)?
    if let completion { valueCompletion = { _, error in completion(error) } }
    start(on: queue, valueCompletion) { () async throws -> Bool in
      try await operation()
      return true
    }
  }

  private static func take<Handler>(_ handler: Locked<Handler?>) -> sending Handler? where Handler: Sendable {
    handler.withLock { $0.take() }
  }

  private static func begin(_ work: @escaping @Sendable () async -> Void) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      Task.immediate { await work() }
    } else {
      Task { await work() }
    }
  }
}
