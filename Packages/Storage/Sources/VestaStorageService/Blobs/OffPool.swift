import VestaConcurrency
import VestaFiles
import VestaStorageBackend

/// Runs work that waits for the disk on a thread that may wait; to its end, whether the task is cancelled or not.
func offPool(_ work: @escaping @Sendable () throws(FileFailure) -> Void) async throws(BlobError) {
  do throws(FileFailure) {
    try await BlockingPool.shared.runToEnd(work)
  } catch {
    throw error.blobError
  }
}

/// Turns a failure of a file into a blob error.
func translated<Result>(_ body: () throws(FileFailure) -> Result) throws(BlobError) -> Result {
  do throws(FileFailure) {
    return try body()
  } catch {
    throw error.blobError
  }
}

extension FileFailure {
  /// The failure, as a blob store reports it.
  fileprivate var blobError: BlobError {
    if isMissing { return BlobError(.notFound, "There is no such blob.") }
    if isExisting { return BlobError(.sealed, "The blob is sealed and cannot be written.") }
    if isFull { return BlobError(.diskFull, "The disk is full (\(reason)). Free space and try again.") }
    if isLocked { return BlobError(.busy, "Another process writes the blob.") }
    if isClosed { return BlobError(.closed, "The file was closed.") }
    return BlobError(.inputOutput, "The system reported an error: \(reason) (\(code)).")
  }
}
