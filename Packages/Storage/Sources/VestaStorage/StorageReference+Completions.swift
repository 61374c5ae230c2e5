public import Foundation
import VestaCore

// The forms with a completion handler, which is called once, on the callback queue of the storage. Each has two
// shapes, as in Firebase's API: with a value and an error, of which one is `nil`, and with a `Result`.

extension StorageReference {
  /// Completion form of ``getMetadata()``.
  @preconcurrency
  public func getMetadata(completion: @escaping @Sendable (StorageMetadata?, (any Error)?) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, completion) { try await self.getMetadata() }
  }

  /// Completion form of ``getMetadata()``.
  @preconcurrency
  public func getMetadata(completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, Self.shape(completion)) { try await self.getMetadata() }
  }

  /// Completion form of ``downloadURL()``.
  @preconcurrency
  public func downloadURL(completion: @escaping @Sendable (URL?, (any Error)?) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, completion) { try await self.downloadURL() }
  }

  /// Completion form of ``downloadURL()``.
  @preconcurrency
  public func downloadURL(completion: @escaping @Sendable (Result<URL, any Error>) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, Self.shape(completion)) { try await self.downloadURL() }
  }

  /// Completion form of ``listAll()``.
  @preconcurrency
  public func listAll(completion: @escaping @Sendable (StorageListResult?, (any Error)?) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, completion) { try await self.listAll() }
  }

  /// Completion form of ``listAll()``.
  @preconcurrency
  public func listAll(completion: @escaping @Sendable (Result<StorageListResult, any Error>) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, Self.shape(completion)) { try await self.listAll() }
  }

  /// Completion form of ``list(maxResults:)``.
  @preconcurrency
  public func list(maxResults: Int64, completion: @escaping @Sendable (StorageListResult?, (any Error)?) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, completion) { try await self.list(maxResults: maxResults) }
  }

  /// Completion form of ``list(maxResults:)``.
  @preconcurrency
  public func list(maxResults: Int64, completion: @escaping @Sendable (Result<StorageListResult, any Error>) -> Void) {
    CompletionForm.start(on: storage.callbackQueue, Self.shape(completion)) {
      try await self.list(maxResults: maxResults)
    }
  }

  /// Completion form of ``list(maxResults:pageToken:)``.
  @preconcurrency
  public func list(
    maxResults: Int64, pageToken: String, completion: @escaping @Sendable (StorageListResult?, (any Error)?) -> Void
  ) {
    CompletionForm.start(on: storage.callbackQueue, completion) {
      try await self.list(maxResults: maxResults, pageToken: pageToken)
    }
  }

  /// Completion form of ``list(maxResults:pageToken:)``.
  @preconcurrency
  public func list(
    maxResults: Int64, pageToken: String, completion: @escaping @Sendable (Result<StorageListResult, any Error>) -> Void
  ) {
    CompletionForm.start(on: storage.callbackQueue, Self.shape(completion)) {
      try await self.list(maxResults: maxResults, pageToken: pageToken)
    }
  }

  /// Completion form of ``updateMetadata(_:)``.
  @preconcurrency
  public func updateMetadata(
    _ metadata: StorageMetadata, completion: (@Sendable (StorageMetadata?, (any Error)?) -> Void)?
  ) {
    CompletionForm.start(on: storage.callbackQueue, completion) { try await self.updateMetadata(metadata) }
  }

  /// Completion form of ``updateMetadata(_:)``.
  @preconcurrency
  public func updateMetadata(
    _ metadata: StorageMetadata, completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
  ) {
    CompletionForm.start(on: storage.callbackQueue, Self.shape(completion)) {
      try await self.updateMetadata(metadata)
    }
  }

  /// Completion form of ``delete()``.
  @preconcurrency
  public func delete(completion: (@Sendable ((any Error)?) -> Void)?) {
    CompletionForm.start(on: storage.callbackQueue, completion) { try await self.delete() }
  }

  // MARK: Tasks

  /// Completion form of ``putDataAsync(_:metadata:onProgress:)``.
  @discardableResult
  @preconcurrency
  public func putData(
    _ uploadData: Data, metadata: StorageMetadata? = nil,
    completion: (@Sendable (StorageMetadata?, (any Error)?) -> Void)?
  ) -> StorageUploadTask {
    upload(data: uploadData, metadata: metadata, whenOver: Self.ending(completion) { $0.metadata })
  }

  /// Completion form of ``putDataAsync(_:metadata:onProgress:)``.
  @discardableResult
  @preconcurrency
  public func putData(
    _ uploadData: Data, metadata: StorageMetadata? = nil,
    completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
  ) -> StorageUploadTask {
    upload(data: uploadData, metadata: metadata, whenOver: Self.ending(Self.shape(completion)) { $0.metadata })
  }

  /// Completion form of ``putFileAsync(from:metadata:onProgress:)``.
  @discardableResult
  @preconcurrency
  public func putFile(
    from fileURL: URL, metadata: StorageMetadata? = nil,
    completion: (@Sendable (StorageMetadata?, (any Error)?) -> Void)?
  ) -> StorageUploadTask {
    upload(file: fileURL, metadata: metadata, whenOver: Self.ending(completion) { $0.metadata })
  }

  /// Completion form of ``putFileAsync(from:metadata:onProgress:)``.
  @discardableResult
  @preconcurrency
  public func putFile(
    from fileURL: URL, metadata: StorageMetadata? = nil,
    completion: @escaping @Sendable (Result<StorageMetadata, any Error>) -> Void
  ) -> StorageUploadTask {
    upload(file: fileURL, metadata: metadata, whenOver: Self.ending(Self.shape(completion)) { $0.metadata })
  }

  /// Completion form of ``data(maxSize:)``.
  @discardableResult
  @preconcurrency
  public func getData(
    maxSize: Int64, completion: @escaping @Sendable (Data?, (any Error)?) -> Void
  ) -> StorageDownloadTask {
    let target = MemoryTarget()
    return download(to: target, maxSize: maxSize, whenOver: Self.ending(completion) { _ in target.data })
  }

  /// Completion form of ``data(maxSize:)``.
  @discardableResult
  @preconcurrency
  public func getData(
    maxSize: Int64, completion: @escaping @Sendable (Result<Data, any Error>) -> Void
  ) -> StorageDownloadTask {
    getData(maxSize: maxSize, completion: Self.shape(completion))
  }

  /// Completion form of ``writeAsync(toFile:onProgress:)``.
  @discardableResult
  @preconcurrency
  public func write(
    toFile fileURL: URL, completion: (@Sendable (URL?, (any Error)?) -> Void)?
  ) -> StorageDownloadTask {
    download(
      to: FileTarget(fileURL, location, storage.downloads, tuning: storage.caller.tuning), maxSize: nil,
      whenOver: Self.ending(completion) { _ in fileURL })
  }

  /// Completion form of ``writeAsync(toFile:onProgress:)``.
  @discardableResult
  @preconcurrency
  public func write(
    toFile fileURL: URL, completion: @escaping @Sendable (Result<URL, any Error>) -> Void
  ) -> StorageDownloadTask {
    download(
      to: FileTarget(fileURL, location, storage.downloads, tuning: storage.caller.tuning), maxSize: nil,
      whenOver: Self.ending(Self.shape(completion)) { _ in fileURL })
  }

  // MARK: Shapes

  /// A handler of a value and an error for a handler of a result.
  private static func shape<Value>(
    _ completion: @escaping @Sendable (Result<Value, any Error>) -> Void
  ) -> @Sendable (Value?, (any Error)?) -> Void {
    { value, error in
      if let value {
        completion(.success(value))
      } else {
        let nothing = StorageError.internalError(message: "There is neither a value nor an error.")
        completion(.failure(error ?? nothing.thrown))
      }
    }
  }

  /// An observer of both ends of a task for a handler of a value and an error.
  private static func ending<Value>(
    _ completion: (@Sendable (Value?, (any Error)?) -> Void)?,
    _ value: @escaping @Sendable (StorageTaskSnapshot) -> Value?
  ) -> (@Sendable (StorageTaskSnapshot) -> Void)? {
    guard let completion else { return nil }
    return { snapshot in
      if let error = snapshot.error { completion(nil, error) } else { completion(value(snapshot), nil) }
    }
  }
}
