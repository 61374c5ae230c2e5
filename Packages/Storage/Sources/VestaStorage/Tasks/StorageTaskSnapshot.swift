public import Foundation

/// The state of a transfer at the time of an event; it does not change.
public final class StorageTaskSnapshot: Sendable, CustomStringConvertible {
  /// The transfer.
  public let task: StorageTask

  /// The metadata: the app's for an upload until it has succeeded, the service's afterwards; `nil` for downloads.
  public let metadata: StorageMetadata?

  /// The reference that is the transfer's target or source.
  public let reference: StorageReference

  /// The error of a failed transfer.
  public let error: (any Error)?

  /// The cause, for a developer.
  public let status: StorageTaskStatus

  let completedBytes: Int64
  let totalBytes: Int64

  init(
    task: StorageTask, reference: StorageReference, status: StorageTaskStatus, metadata: StorageMetadata?,
    error: (any Error)?, completedBytes: Int64, totalBytes: Int64
  ) {
    self.task = task
    self.reference = reference
    self.status = status
    self.metadata = metadata
    self.error = error
    self.completedBytes = completedBytes
    self.totalBytes = totalBytes
  }

  /// The number of transferred bytes, and of all; the latter is -1 while it is unknown.
  ///
  /// A new object at each call.
  public var progress: Progress? {
    let progress = Progress(totalUnitCount: totalBytes)
    progress.completedUnitCount = completedBytes
    return progress
  }

  /// The status, as Firebase writes it; with the progress where bytes are transferred.
  public var description: String {
    switch status {
    case .resume: "<State: Resume>"
    case .progress: "<State: Progress, Progress: \(completedBytes) of \(totalBytes) bytes>"
    case .pause: "<State: Paused>"
    case .success: "<State: Success>"
    case .failure: "<State: Failed>"
    case .unknown: "<State: Unknown>"
    }
  }
}
