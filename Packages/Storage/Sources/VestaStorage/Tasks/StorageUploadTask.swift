/// An upload to a reference.
///
/// All members may be called from any thread, also in an observer.
public final class StorageUploadTask: StorageTransfer, Sendable {
  let runner: TransferRunner

  init(_ runner: TransferRunner) {
    self.runner = runner
    runner.attach(self)
  }

  /// The current state of the task.
  public var snapshot: StorageTaskSnapshot { runner.snapshot(of: self) }

  /// Starts the transfer, if it has not started.
  public func enqueue() { runner.perform { $0.enqueue() } }

  /// Pauses the upload.
  public func pause() { runner.perform { $0.pause() } }

  /// Cancels the upload.
  public func cancel() { runner.cancel() }

  /// Continues the upload where it stopped.
  public func resume() { runner.perform { $0.resume() } }

  /// Adds an observer; see ``StorageTransfer/observe(_:handler:)``.
  ///
  /// - Parameters:
  ///   - status: The event to wait for.
  ///   - handler: Called on the callback queue.
  /// - Returns: A handle for ``removeObserver(withHandle:)``.
  @discardableResult
  @preconcurrency
  public func observe(
    _ status: StorageTaskStatus, handler: @escaping @Sendable (StorageTaskSnapshot) -> Void
  ) -> String { runner.observe(status, self, handler) }

  /// Removes an observer.
  ///
  /// - Parameter handle: The handle that ``observe(_:handler:)`` returned.
  public func removeObserver(withHandle handle: String) { runner.removeObservers { $0.handle == handle } }

  /// Removes all observers of a status.
  ///
  /// - Parameter status: The status.
  public func removeAllObservers(for status: StorageTaskStatus) { runner.removeObservers { $0.status == status } }

  /// Removes all observers.
  public func removeAllObservers() { runner.removeObservers { _ in true } }

  /// The progress of the upload; see ``StorageTransfer/progressUpdates``.
  public var progressUpdates: AsyncThrowingStream<StorageTaskSnapshot, any Error> { runner.progressUpdates(of: self) }
}
