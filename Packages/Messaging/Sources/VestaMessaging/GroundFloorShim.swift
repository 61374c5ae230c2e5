import Dispatch

func completeOnQueue<Value: Sendable>(
  _ queue: DispatchQueue, _ operation: @escaping @Sendable () async throws -> Value,
  then completion: @escaping @Sendable (Value?, (any Error)?) -> Void
) {
  Task {
    do {
      let value = try await operation()
      queue.async { completion(value, nil) }
    } catch {
      queue.async { completion(nil, error) }
    }
  }
}
