import Dispatch

extension VestaApp {
  /// Completion form of ``delete()``: the app is deleted, and its name is free, when this has returned.
  ///
  /// - Parameter completion: Called on the callback queue of the options (the main queue unless it was set).
  public func delete(_ completion: @escaping @Sendable (Bool) -> Void) {
    let queue = frozenOptions.callbackQueue ?? .main
    let before = beginDeletion()
    Task {
      let isDeleted = await finishDeletion(before)
      queue.async { completion(isDeleted) }
    }
  }
}
