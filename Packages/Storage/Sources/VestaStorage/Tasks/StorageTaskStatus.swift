/// The status of a transfer, and what an observer can wait for.
public enum StorageTaskStatus: Int, Sendable {
  /// The task has not begun.
  case unknown
  /// The task runs, or runs again after a pause.
  case resume
  /// The task has transferred bytes.
  case progress
  /// The task is paused.
  case pause
  /// The task has succeeded.
  case success
  /// The task has failed or was cancelled.
  case failure
}
