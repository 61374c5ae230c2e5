import Dispatch

extension VestaApp {
  /// Completion form of ``delete()``.
  ///
  /// - Parameter completion: Called on the callback queue of the options (the main queue unless it was set).
  public func delete(_ completion: @escaping @Sendable (Bool) -> Void) {
    let queue = frozenOptions.callbackQueue ?? .main
    Task {
      let isDeleted = await delete()
      queue.async { completion(isDeleted) }
    }
  }
}
