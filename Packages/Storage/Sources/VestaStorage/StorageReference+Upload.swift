public import Foundation
import VestaFiles

extension StorageReference {
  // MARK: Tasks

  /// Uploads bytes in memory.
  ///
  /// - Parameters:
  ///   - uploadData: The content.
  ///   - metadata: The metadata; taken as it is now.
  /// - Returns: The running task.
  @discardableResult
  public func putData(_ uploadData: Data, metadata: StorageMetadata? = nil) -> StorageUploadTask {
    upload(data: uploadData, metadata: metadata, whenOver: nil)
  }

  /// Uploads a file.
  ///
  /// The upload continues when it is started again after the process has ended, as long as file, object and metadata
  /// are the same; see ``Storage/resumeInterruptedUploads()``. It fails when the file changes in between.
  ///
  /// - Parameters:
  ///   - fileURL: A regular file.
  ///   - metadata: The metadata; taken as it is now. Without a media type it gets the one of the file's extension.
  /// - Returns: The running task.
  @discardableResult
  public func putFile(from fileURL: URL, metadata: StorageMetadata? = nil) -> StorageUploadTask {
    upload(file: fileURL, metadata: metadata, whenOver: nil)
  }

  /// Uploads the bytes of a sequence, which is read as fast as the service takes them.
  ///
  /// ```swift
  /// reference.putStream(URLSession.shared.bytes(from: url).0)
  /// ```
  ///
  /// - Parameters:
  ///   - bytes: The content; read once, with one chunk in memory.
  ///   - metadata: The metadata; taken as it is now.
  /// - Returns: The running task.
  @discardableResult
  public func putStream<Bytes: AsyncSequence & Sendable>(
    _ bytes: Bytes, metadata: StorageMetadata? = nil
  ) -> StorageUploadTask where Bytes.Element == UInt8 {
    let chunkLength = storage.chunkLength
    return upload(metadata, contentType: MediaTypes.unknown, path: nil) {
      let reader = SequenceReader(bytes)
      return SequenceSource { try await reader.bytes(upTo: chunkLength) }
    }
  }

  /// Uploads the pieces of a sequence, which is read as fast as the service takes them.
  ///
  /// - Parameters:
  ///   - pieces: The content in pieces of any length; read once.
  ///   - metadata: The metadata; taken as it is now.
  /// - Returns: The running task.
  @discardableResult
  public func putStream<Pieces: AsyncSequence & Sendable>(
    _ pieces: Pieces, metadata: StorageMetadata? = nil
  ) -> StorageUploadTask where Pieces.Element == Data {
    upload(metadata, contentType: MediaTypes.unknown, path: nil) {
      let reader = SequenceReader(pieces)
      return SequenceSource { try await reader.next().map { [UInt8]($0) } }
    }
  }

  // MARK: Async forms

  /// Uploads bytes in memory, and waits until the object is there.
  ///
  /// Cancelling the task cancels the upload.
  ///
  /// - Parameters:
  ///   - uploadData: The content.
  ///   - metadata: The metadata.
  ///   - onProgress: Called on the callback queue.
  /// - Returns: The metadata of the object.
  /// - Throws: `StorageError`.
  @preconcurrency
  public func putDataAsync(
    _ uploadData: Data, metadata: StorageMetadata? = nil, onProgress: (@Sendable (Progress?) -> Void)? = nil
  ) async throws -> StorageMetadata {
    try await finish(putData(uploadData, metadata: metadata), onProgress)
  }

  /// Uploads a file, and waits until the object is there.
  ///
  /// Cancelling the task cancels the upload.
  ///
  /// - Parameters:
  ///   - url: A regular file.
  ///   - metadata: The metadata.
  ///   - onProgress: Called on the callback queue.
  /// - Returns: The metadata of the object.
  /// - Throws: `StorageError`.
  @preconcurrency
  public func putFileAsync(
    from url: URL, metadata: StorageMetadata? = nil, onProgress: (@Sendable (Progress?) -> Void)? = nil
  ) async throws -> StorageMetadata {
    try await finish(putFile(from: url, metadata: metadata), onProgress)
  }

  private func finish(
    _ task: StorageUploadTask, _ onProgress: (@Sendable (Progress?) -> Void)?
  ) async throws -> StorageMetadata {
    let (metadata, _) = try await task.runner.finish(onProgress, of: task)
    return metadata ?? StorageMetadata()
  }

  // MARK: Making the task

  func upload(
    data: Data, metadata: StorageMetadata?, whenOver: (@Sendable (StorageTaskSnapshot) -> Void)?
  ) -> StorageUploadTask {
    upload(metadata, contentType: MediaTypes.unknown, path: nil, whenOver) { DataSource(data: data) }
  }

  func upload(
    file: URL, metadata: StorageMetadata?, whenOver: (@Sendable (StorageTaskSnapshot) -> Void)?
  ) -> StorageUploadTask {
    upload(fileAt: file.localPath ?? file.absoluteString, metadata: metadata, whenOver: whenOver)
  }

  func upload(
    fileAt path: String, metadata: StorageMetadata?, whenOver: (@Sendable (StorageTaskSnapshot) -> Void)? = nil
  ) -> StorageUploadTask {
    let fileExtension = URL(filePath: path).pathExtension
    return upload(metadata, contentType: MediaTypes.type(forExtension: fileExtension), path: path, whenOver) {
      do {
        return try FileSource(path: path)
      } catch let error as FileFailure {
        throw StorageError.unknown(
          message: """
            File at URL: \(path) is not reachable. \
            Ensure file URL is not a directory, symbolic link, or invalid url.
            """,
          serverError: ["NSUnderlyingError": "POSIX errno \(error.code) (\(error.reason))"])
      }
    }
  }

  private func upload(
    _ metadata: StorageMetadata?, contentType: String, path: String?,
    _ whenOver: (@Sendable (StorageTaskSnapshot) -> Void)? = nil,
    from open: @escaping @Sendable () throws -> any UploadSource
  ) -> StorageUploadTask {
    let metadata = (metadata ?? StorageMetadata()).forUpload(to: location, contentType: contentType)
    let order = UploadRunner.Order(
      location: location, metadata: metadata, chunkLength: storage.chunkLength,
      retrySeconds: storage.maxUploadRetryTime, book: path == nil ? nil : storage.uploads, path: path)
    let work = UploadRunner(order, caller: storage.caller, open: open)
    let task = StorageUploadTask(TransferRunner(.upload, reference: self, metadata: metadata, work: work))
    task.runner.whenOver(task, whenOver)
    task.runner.begin(task)
    return task
  }
}

/// Reads a sequence from whatever task asks; one at a time asks.
private final class SequenceReader<Base: AsyncSequence & Sendable>: Sendable where Base.Element: Sendable {
  private let iterator: Box

  // Sound as @unchecked Sendable: one attempt of an upload at a time reads, and the next begins after it has returned.
  private final class Box: @unchecked Sendable {
    var iterator: Base.AsyncIterator
    init(_ iterator: Base.AsyncIterator) { self.iterator = iterator }
  }

  init(_ base: Base) { iterator = Box(base.makeAsyncIterator()) }

  func next() async throws -> Base.Element? { try await iterator.iterator.next() }
}

extension SequenceReader where Base.Element == UInt8 {
  func bytes(upTo count: Int) async throws -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    while bytes.count < count, let byte = try await next() { bytes.append(byte) }
    return bytes.isEmpty ? nil : bytes
  }
}
