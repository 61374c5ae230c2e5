import Dispatch

/// Stands in for VestaCore's completion form until that is in main.
enum CompletionForm {
  static func start<Value: Sendable>(
    on queue: DispatchQueue, _ completion: (@Sendable (Value?, (any Error)?) -> Void)?,
    _ operation: @escaping @Sendable () async throws -> Value
  ) {
    Task {
      do {
        let value = try await operation()
        queue.async { completion?(value, nil) }
      } catch {
        queue.async { completion?(nil, error) }
      }
    }
  }
}
