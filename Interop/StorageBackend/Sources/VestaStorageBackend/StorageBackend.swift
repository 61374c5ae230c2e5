public import VestaServiceInterop

/// The object service that Storage calls: uploads, downloads, metadata, listing and download tokens.
///
/// The embedded engine implements it in process; a remote client will implement it over HTTP, and a server can expose
/// any implementation on the wire.
///
/// Promises of every implementation (`StorageContracts` checks them):
/// - All methods may be called from any task at any time.
/// - An object is there as a whole or not at all. A reader that has opened an object reads the bytes of that generation
///   to the end, also when the object is replaced or deleted in between.
/// - The object that a finished upload returns survives a crash of the process. An upload that is not finished changes
///   no object, and can be continued from the size that ``uploadStatus(_:context:)`` reports.
/// - Calls on one upload that arrive at the same time take turns: each is answered by what the ones before it have
///   left.
/// - A method throws `StorageServiceError`, or `CancellationError` when the calling task was cancelled.
public protocol StorageBackend: Sendable {
  // MARK: Uploads

  /// Stores a small object in one call.
  ///
  /// - Parameters:
  ///   - request: The object to create or replace, and its metadata.
  ///   - content: The whole content, at most `UploadLimits.singleCallLength` bytes.
  ///   - context: The caller.
  /// - Returns: The stored object.
  /// - Throws: `StorageServiceError`; no object has changed then.
  func putObject(_ request: UploadRequest, content: [UInt8], context: CallContext) async throws -> StorageObject

  /// Starts a resumable upload.
  ///
  /// - Parameters:
  ///   - request: The object to create or replace, and its metadata.
  ///   - context: The caller.
  /// - Returns: The id of the upload session, which survives a crash of the process.
  /// - Throws: `StorageServiceError`.
  func startUpload(_ request: UploadRequest, context: CallContext) async throws -> UploadID

  /// Appends bytes to an upload.
  ///
  /// - Parameters:
  ///   - id: The upload session.
  ///   - offset: The number of bytes received before; must be the received size of the session.
  ///   - bytes: The next bytes, at most `UploadLimits.chunkLength`.
  ///   - context: The caller.
  /// - Returns: The state of the upload afterwards.
  /// - Throws: `StorageServiceError`: `outOfRange` for a wrong offset, with the session unchanged; `aborted` when
  ///   too many calls wait for the session, or another process has it; `notFound` for an unknown or expired session.
  func appendToUpload(
    _ id: UploadID, offset: Int64, bytes: [UInt8], context: CallContext
  ) async throws -> UploadStatus

  /// Ends an upload: from now on the object has the content that was sent.
  ///
  /// Calling it again returns the same object.
  ///
  /// - Parameters:
  ///   - id: The upload session.
  ///   - expected: The sender's knowledge of the content; the service refuses other content.
  ///   - context: The caller.
  /// - Returns: The stored object.
  /// - Throws: `StorageServiceError`: `dataLoss` when the content is not the expected one, and the upload is cancelled.
  func finalizeUpload(_ id: UploadID, expected: ContentDigest, context: CallContext) async throws -> StorageObject

  /// The state of an upload.
  ///
  /// - Parameters:
  ///   - id: The upload session.
  ///   - context: The caller.
  /// - Returns: How many bytes have been received and what their checksum is.
  /// - Throws: `StorageServiceError` with `notFound` for an unknown or expired session.
  func uploadStatus(_ id: UploadID, context: CallContext) async throws -> UploadStatus

  /// Makes durable what an upload has received, for a service that tells its client how much there is.
  ///
  /// - Parameters:
  ///   - id: The upload session.
  ///   - context: The caller.
  /// - Returns: The state of the upload, which a crash of the process and of the machine leaves as it is.
  /// - Throws: `StorageServiceError` with `notFound` for an unknown or expired session.
  func keepUpload(_ id: UploadID, context: CallContext) async throws -> UploadStatus

  /// Cancels an upload and frees what it received.
  ///
  /// Once it has returned, no call on the upload makes an object, however early it was made. Cancelling a cancelled
  /// upload does nothing.
  ///
  /// - Parameters:
  ///   - id: The upload session.
  ///   - context: The caller.
  /// - Throws: `StorageServiceError` with `failedPrecondition` for a finished upload.
  func cancelUpload(_ id: UploadID, context: CallContext) async throws

  // MARK: Reading

  /// Opens an object for reading.
  ///
  /// - Parameters:
  ///   - request: Which object and which part of it.
  ///   - context: The caller.
  /// - Returns: The object's metadata and its content, which the caller closes.
  /// - Throws: `StorageServiceError`: `notFound`, `failedPrecondition`, `outOfRange` with the size for a range outside
  ///   of the object.
  func openObject(_ request: ReadRequest, context: CallContext) async throws -> ObjectDownload

  /// The metadata of an object.
  ///
  /// It changes nothing: an object that was uploaded without a download token has none until
  /// ``DownloadTokenAction/ensure``.
  ///
  /// - Parameters:
  ///   - object: Which object.
  ///   - preconditions: The conditions on it.
  ///   - context: The caller.
  /// - Returns: The object.
  /// - Throws: `StorageServiceError`: `notFound`, `failedPrecondition`.
  func getObject(
    _ object: ObjectName, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject

  /// The objects below a prefix, in the order of their names' UTF-8 bytes.
  ///
  /// - Parameters:
  ///   - request: Which ones.
  ///   - context: The caller.
  /// - Returns: One page.
  /// - Throws: `StorageServiceError` with `invalidArgument` for a page token that this service did not make.
  func listObjects(_ request: ListRequest, context: CallContext) async throws -> ListPage

  // MARK: Changing

  /// Changes the metadata of an object.
  ///
  /// - Parameters:
  ///   - object: Which object.
  ///   - change: The fields to set and to remove.
  ///   - preconditions: The conditions on the object.
  ///   - context: The caller.
  /// - Returns: The object with its next metageneration.
  /// - Throws: `StorageServiceError`: `notFound`, `failedPrecondition`, `invalidArgument`.
  func updateObject(
    _ object: ObjectName, change: MetadataChange, preconditions: Preconditions, context: CallContext
  ) async throws -> StorageObject

  /// Deletes an object.
  ///
  /// - Parameters:
  ///   - object: Which object.
  ///   - preconditions: The conditions on it.
  ///   - context: The caller.
  /// - Throws: `StorageServiceError`: `notFound`, `failedPrecondition`.
  func deleteObject(_ object: ObjectName, preconditions: Preconditions, context: CallContext) async throws

  /// Adds a download token to an object, or removes one.
  ///
  /// Removing the last token adds a new one.
  ///
  /// - Parameters:
  ///   - object: Which object.
  ///   - action: The action.
  ///   - context: The caller.
  /// - Returns: The object with its next metageneration.
  /// - Throws: `StorageServiceError` with `notFound`.
  func changeDownloadTokens(
    _ object: ObjectName, _ action: DownloadTokenAction, context: CallContext
  ) async throws -> StorageObject

  /// Makes an object of the contents of others, one after another: a copy where there is one source, and a move where
  /// that one is deleted.
  ///
  /// The new object is there as a whole or not at all, and with it the sources are deleted or not: all of it is one
  /// change. The object has the metadata of the request, and no token of a source. A guard is asked about reading each
  /// source, about the upload, and about each deletion.
  ///
  /// - Parameters:
  ///   - request: The object to create or replace, and its metadata.
  ///   - sources: The sources, 1 to `UploadLimits.sources`; all from its first byte on, with their preconditions.
  ///   - deletesSources: Whether the sources are deleted, except the one that the new object replaces. A source that
  ///     was replaced after it had been read stays.
  ///   - context: The caller.
  /// - Returns: The stored object.
  /// - Throws: `StorageServiceError`: `notFound`, `failedPrecondition`, `invalidArgument`, also for more bytes than an
  ///   object can have; `resourceExhausted` where the disk has no room for them; `unimplemented` where the service
  ///   cannot delete the sources in one change with the upload. No object has changed then.
  func composeObject(
    _ request: UploadRequest, of sources: [ReadRequest], deletesSources: Bool, context: CallContext
  ) async throws -> StorageObject
}

extension StorageBackend {
  /// Makes an object of the contents of others, which stay.
  public func composeObject(
    _ request: UploadRequest, of sources: [ReadRequest], context: CallContext
  ) async throws -> StorageObject {
    try await composeObject(request, of: sources, deletesSources: false, context: context)
  }

  /// Reads the sources and uploads what they have; refuses to delete them.
  ///
  /// It costs as much as the bytes of the sources.
  public func composeObject(
    _ request: UploadRequest, of sources: [ReadRequest], deletesSources: Bool, context: CallContext
  ) async throws -> StorageObject {
    guard !deletesSources else {
      throw StorageServiceError(
        .unimplemented, "This service cannot delete the sources of an object in one change with its upload.")
    }
    return try await uploadObject(request, of: sources, in: (self, context), context: context)
  }

  /// Uploads the contents of objects, which another service may have.
  ///
  /// - Parameters:
  ///   - request: The object to create or replace, and its metadata.
  ///   - sources: The sources, 1 to `UploadLimits.sources`.
  ///   - origin: The service that has the sources, and the caller there.
  ///   - context: The caller.
  /// - Returns: The stored object.
  /// - Throws: `StorageServiceError`; no object has changed then.
  public func uploadObject(
    _ request: UploadRequest, of sources: [ReadRequest],
    in origin: (service: any StorageBackend, context: CallContext), context: CallContext
  ) async throws -> StorageObject {
    try UploadLimits.check(sources)
    var request = request
    request.isContinuable = false
    let id = try await startUpload(request, context: context)
    do {
      var offset: Int64 = 0
      for source in sources {
        let content = try await origin.service.openObject(source, context: origin.context).content
        defer { content.close() }
        offset = try await append(content, to: id, at: offset, context)
      }
      return try await finalizeUpload(id, expected: ContentDigest(size: offset), context: context)
    } catch {
      // In a separate task: a cancelled caller leaves no upload.
      await Task { try? await cancelUpload(id, context: context) }.value
      throw error
    }
  }

  /// Appends the rest of an open object; returns the size of the upload afterwards.
  private func append(
    _ content: any ObjectContent, to id: UploadID, at start: Int64, _ context: CallContext
  ) async throws -> Int64 {
    var offset = start
    while true {
      let bytes = try await content.read(maximumLength: 1 << 20)
      if bytes.isEmpty { return offset }
      _ = try await appendToUpload(id, offset: offset, bytes: bytes, context: context)
      offset += Int64(bytes.count)
    }
  }
}

extension UploadLimits {
  /// Refuses a number of sources that no object is made of.
  public static func check(_ sources: [ReadRequest]) throws(StorageServiceError) {
    guard !sources.isEmpty else { throw StorageServiceError(.invalidArgument, "A new object needs a source.") }
    guard sources.count <= self.sources else {
      throw StorageServiceError(
        .invalidArgument, "An object is made of at most \(self.sources) others, and not of \(sources.count).")
    }
  }
}
