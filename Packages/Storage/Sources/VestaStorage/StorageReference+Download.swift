public import Foundation
import VestaStorageBackend

extension StorageReference {
  /// Downloads the object into memory.
  ///
  /// Cancelling the task cancels the download.
  ///
  /// - Parameter maxSize: How many bytes the object may have.
  /// - Throws: `StorageError`; `.downloadSizeExceeded` for a larger object, of which nothing is downloaded then.
  public func data(maxSize: Int64) async throws -> Data {
    let target = MemoryTarget()
    let task = download(to: target, maxSize: maxSize)
    _ = try await task.runner.finish(nil, of: task)
    return target.data
  }

  /// Downloads the object to a file, which replaces one that is there when the download is complete.
  ///
  /// A large download that a killed process has begun continues where it stopped, if the object is still the same.
  ///
  /// - Parameter fileURL: The file; folders above it are made.
  /// - Returns: The running task.
  @discardableResult
  public func write(toFile fileURL: URL) -> StorageDownloadTask {
    download(to: FileTarget(fileURL, location, storage.downloads, tuning: storage.caller.tuning), maxSize: nil)
  }

  /// Downloads the object to a file, and waits until the file is there.
  ///
  /// Cancelling the task cancels the download; the file is unchanged then.
  ///
  /// - Parameters:
  ///   - fileURL: The file; folders above it are made.
  ///   - onProgress: Called on the callback queue.
  /// - Returns: The same URL.
  /// - Throws: `StorageError`.
  @preconcurrency
  public func writeAsync(
    toFile fileURL: URL, onProgress: (@Sendable (Progress?) -> Void)? = nil
  ) async throws -> URL {
    let task = write(toFile: fileURL)
    _ = try await task.runner.finish(onProgress, of: task)
    return fileURL
  }

  /// The bytes of the object as a sequence of chunks, fetched when the loop asks for them.
  ///
  /// - Parameter chunkSize: How many bytes a chunk has at most, 1 to 16 Mi.
  public func contents(chunkSize: Int = 256 * 1024) -> StorageContents {
    let (name, storage) = (objectName, storage)
    let length = min(max(chunkSize, 1), UploadLimits.chunkLength)
    return StorageContents {
      StorageContentsReader(
        name, caller: storage.caller, transfers: storage.transfers, length: length,
        retrySeconds: storage.maxDownloadRetryTime)
    }
  }

  func download(
    to target: any DownloadTarget, maxSize: Int64?, whenOver: (@Sendable (StorageTaskSnapshot) -> Void)? = nil
  ) -> StorageDownloadTask {
    let work = DownloadRunner(
      location, caller: storage.caller, target: target, maxSize: maxSize, retrySeconds: storage.maxDownloadRetryTime)
    let task = StorageDownloadTask(TransferRunner(.download, reference: self, metadata: nil, work: work))
    task.runner.whenOver(task, whenOver)
    task.runner.begin(task)
    return task
  }
}
