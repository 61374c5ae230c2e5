extension Callable where Request: Sendable, Response: Sendable {
  /// Completion form of ``call(_:)``; the handler is called on the main actor.
  @preconcurrency
  public func call(
    _ data: Request, completion: @escaping @MainActor @Sendable (Result<Response, any Error>) -> Void
  ) {
    Task {
      let result: Result<Response, any Error>
      do {
        result = .success(try await call(data))
      } catch {
        result = .failure(error)
      }
      await MainActor.run { completion(result) }
    }
  }

  /// Completion form of ``callAsFunction(_:)``; the handler is called on the main actor.
  @preconcurrency
  public func callAsFunction(
    _ data: Request, completion: @escaping @MainActor @Sendable (Result<Response, any Error>) -> Void
  ) {
    call(data, completion: completion)
  }
}
