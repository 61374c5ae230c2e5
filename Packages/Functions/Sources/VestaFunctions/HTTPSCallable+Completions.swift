extension HTTPSCallable {
  /// Completion form of ``call(_:)``; the handler is called on the main actor.
  @preconcurrency
  public func call(
    _ data: Any? = nil, completion: @escaping @MainActor @Sendable (HTTPSCallableResult?, (any Error)?) -> Void
  ) {
    // Encoded here: the caller's data may not leave its thread.
    let wire = Result { try Self.encoded(data) }
    Task {
      let result: Result<HTTPSCallableResult, any Error>
      do {
        result = .success(try Self.result(try await call(wire: try wire.get())))
      } catch {
        result = .failure(error)
      }
      await MainActor.run {
        switch result {
        case .success(let value): completion(value, nil)
        case .failure(let error): completion(nil, error)
        }
      }
    }
  }
}
