/// The base of uploads and downloads.
///
/// The tasks are ``StorageUploadTask`` and ``StorageDownloadTask``; `StorageTask` and `StorageObservableTask` are the
/// names under which Firebase's API knows what they share.
///
/// All members may be called from any thread, also in an observer.
public protocol StorageTransfer: StorageTaskManagement {
  /// The current state of the task.
  var snapshot: StorageTaskSnapshot { get }

  /// Adds an observer, which is called on the callback queue of the `Storage`.
  ///
  /// It is called at once when the task has the status already: `.resume` and `.progress` while it runs, `.pause` while
  /// it is paused, `.success` and `.failure` once after the end. All observers are dropped at the end.
  ///
  /// - Parameters:
  ///   - status: The event to wait for.
  ///   - handler: Called with the state of the task at that time.
  /// - Returns: A handle for ``removeObserver(withHandle:)``.
  @discardableResult
  @preconcurrency
  func observe(
    _ status: StorageTaskStatus, handler: @escaping @Sendable (StorageTaskSnapshot) -> Void
  ) -> String

  /// Removes an observer.
  ///
  /// - Parameter handle: The handle that ``observe(_:handler:)`` returned.
  func removeObserver(withHandle handle: String)

  /// Removes all observers of a status.
  ///
  /// - Parameter status: The status.
  func removeAllObservers(for status: StorageTaskStatus)

  /// Removes all observers.
  func removeAllObservers()

  /// The progress of the transfer.
  ///
  /// Ends when the transfer succeeds, and throws its error when it fails or is cancelled. Snapshots that the consumer
  /// has not taken yet become one, the last. Cancelling the consuming task, leaving the loop or dropping the stream
  /// removes the listener and leaves the transfer running.
  ///
  /// ```swift
  /// for try await snapshot in task.progressUpdates {
  ///   print(snapshot.progress?.fractionCompleted ?? 0)
  /// }
  /// ```
  var progressUpdates: AsyncThrowingStream<StorageTaskSnapshot, any Error> { get }
}

/// The calls that start, pause and end a transfer.
public protocol StorageTaskManagement: AnyObject, Sendable {
  /// Starts the transfer, if it has not started; tasks of `StorageReference` start by themselves.
  func enqueue()

  /// Pauses the transfer.
  func pause()

  /// Cancels the transfer: its observers and completion handler get `StorageErrorCode.cancelled`.
  func cancel()

  /// Continues a paused transfer where it stopped.
  func resume()
}

/// An upload or a download.
public typealias StorageTask = any StorageTransfer

/// An upload or a download.
public typealias StorageObservableTask = any StorageTransfer

extension StorageTransfer {
  /// The same stream as ``progressUpdates``.
  public var progress: AsyncThrowingStream<StorageTaskSnapshot, any Error> { progressUpdates }
}
