import VestaBytes
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// Brings new objects: in one call, or in an upload that can be continued.
struct UploadCall: StorageCall {
  let engine: StorageEngine
  let context: CallContext
  let now: Int64

  func putObject(_ request: UploadRequest, content: [UInt8]) async throws -> StorageObject {
    try check(request)
    guard content.count <= UploadLimits.singleCallLength else {
      throw StorageServiceError(
        .invalidArgument, "Content of more than \(UploadLimits.singleCallLength) bytes needs a resumable upload.")
    }
    guard content.count <= engine.options.inlineLimit else {
      // The id of this upload is unknown to callers: after a crash it cannot be continued.
      var request = request
      request.isContinuable = false
      let id = try await startUpload(request, isAsked: false)
      _ = try await append(id, offset: 0, bytes: content)
      return try await finalize(id, expected: ContentDigest())
    }
    return try await putSmall(request, content)
  }

  /// Puts an object whose content is kept in the store, in one transaction.
  private func putSmall(_ request: UploadRequest, _ content: [UInt8]) async throws -> StorageObject {
    var checksum = CRC32C()
    checksum.update(content)
    let ready = ReadyContent(
      blob: try newBlob(), inline: content, size: Int64(content.count), crc32c: checksum.value,
      md5: try digest(of: content))
    try ContentRules.check(request.expected, size: ready.size, crc32c: ready.crc32c, md5: ready.md5)
    let (metadata, tokens) = try prepared(request.metadata, for: request.object, request.downloadTokens)
    let placed = try await write { transaction in
      try await place(
        ready, as: request.object, metadata: metadata, tokens: tokens, preconditions: request.preconditions,
        starter: context, in: transaction)
    }
    for blob in placed.unused { await collect(blob) }
    return placed.record.object(named: request.object)
  }

  /// - Parameter isAsked: Whether the guard is asked; the end of the upload asks it in any case.
  func startUpload(_ request: UploadRequest, isAsked: Bool = true) async throws -> UploadID {
    try check(request)
    let (metadata, tokens) = try prepared(request.metadata, for: request.object, request.downloadTokens)
    let id = UploadID(rawValue: try newID())
    let (ready, ownership) = (try newRecord(of: request), engine.options.tuning.ownership)
    await engine.expireUploads(now: now)
    try await write { transaction in
      let old = try await existing(request.object, request.preconditions, for: context, in: transaction).record
      if isAsked {
        let existing = old?.object(named: request.object)
        try await ask(.upload(Self.stated(request, metadata, tokens), existing: existing))
      }
      // A caller that may be denied the upload must not learn of the existing object.
      if engine.gatekeeper == nil || context.isOwner { try PreconditionRules.check(request.preconditions, old) }
      var record = ready
      record.ownedUntil = try await transaction.commitVersion().microseconds + ownership
      try await transaction.put(try record.fieldBytes(), for: Keys.upload(id))
    }
    return id
  }

  private func newRecord(of request: UploadRequest) throws -> UploadRecord {
    let shortest = min(lifetime, engine.options.tuning.shortLifetime.microseconds)
    var record = UploadRecord(
      request, blob: try newBlob(), expires: now + (request.isContinuable ? lifetime : shortest))
    record.owner = engine.owner
    try record.note(starter: context)
    return record
  }

  func append(_ id: UploadID, offset: Int64, bytes: [UInt8]) async throws -> UploadStatus {
    guard bytes.count <= UploadLimits.chunkLength else {
      throw StorageServiceError(
        .invalidArgument, "A chunk of \(bytes.count) bytes is too long: send at most \(UploadLimits.chunkLength).")
    }
    return try await withUpload(id) { upload in
      try Self.checkNext(offset, after: upload.progress.size)
      try check(size: offset + Int64(bytes.count))
      try await keepOwned(upload)
      try await upload.append(bytes)
      if upload.progress.size - upload.progress.checkpoint >= engine.options.checkpointInterval {
        try await upload.startCheckpoint { try await note($0, of: id) }
      }
      return Self.status(.active, upload.progress)
    }
  }

  /// Refuses a chunk that does not begin where the upload ends.
  private static func checkNext(_ offset: Int64, after size: Int64) throws(StorageServiceError) {
    guard offset == size else {
      throw StorageServiceError(
        .outOfRange, "The upload has \(size) bytes, and the chunk begins at \(offset).",
        reason: .wrongOffset(received: size))
    }
  }

  /// - Parameter isKept: Whether what was received is made durable first.
  func status(_ id: UploadID, isKept: Bool = false) async throws -> UploadStatus {
    let record = try await activeOrFinal(id)
    if record.object != nil { return try Self.final(record) }
    do {
      return try await withUpload(id) { upload in
        if isKept { try await keep(upload) }
        return UploadStatus(
          state: .active, received: upload.progress.size, crc32c: upload.progress.checksum.value,
          request: record.request, starter: try record.starterOrOwner())
      }
    } catch let error as StorageServiceError where error.reason == .uploadGone {
      // The call that this one has waited for may have finished the upload.
      guard let record = try await upload(id), record.object != nil else { throw error }
      return try Self.final(record)
    }
  }

  private func keep(_ upload: ActiveUpload) async throws {
    try await upload.finishCheckpoint()
    guard upload.progress.checkpoint < upload.progress.size else { return }
    try await upload.startCheckpoint { try await note($0, of: upload.id) }
    try await upload.finishCheckpoint()
  }

  private static func final(_ record: UploadRecord) throws -> UploadStatus {
    UploadStatus(
      state: .final, received: record.object?.size ?? 0,
      crc32c: record.object.map { UInt32(truncatingIfNeeded: $0.crc32c) }, request: record.request,
      starter: try record.starterOrOwner())
  }

  /// - Parameter deleted: The objects that are deleted with the commit of the new one.
  func finalize(
    _ id: UploadID, expected: ContentDigest, deleting deleted: [FoundObject] = []
  ) async throws -> StorageObject {
    let record = try await activeOrFinal(id)
    if let object = record.object { return object.object(named: record.objectName) }
    do {
      return try await withUpload(id, keepsOpen: false) { upload in
        try await finish(upload, record, expected, deleting: deleted)
      }
    } catch let error as StorageServiceError
      where error.reason == .contentMismatch || error.reason == .precondition || error.code == .permissionDenied
    {
      // This upload can no longer be finished.
      await discard(id)
      throw error
    } catch let error as StorageServiceError where error.reason == .uploadGone {
      // The call that this one has waited for may have finished the upload.
      guard let object = try await upload(id)?.object else { throw error }
      return object.object(named: record.objectName)
    }
  }

  func cancel(_ id: UploadID) async throws {
    let record = try await upload(id)
    guard let record, record.state != .cancelled else { return }
    guard record.state == .active else { throw Self.finished }
    let open = try await engine.uploads.take(id, waiting: engine.options.tuning.waitingCalls)
    await open?.close()
    defer { _ = engine.uploads.put(id, nil, limit: 0) }
    try await remove(id)
  }
}
