import VestaBytes
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

extension StorageCall {
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
      let id = try await startUpload(request)
      _ = try await append(id, offset: 0, bytes: content)
      return try await finalize(id, expected: ContentDigest())
    }
    var checksum = CRC32C()
    checksum.update(content)
    let ready = Content(
      blob: try newBlob(), inline: content, size: Int64(content.count), crc32c: checksum.value,
      md5: try digest(of: content))
    try ContentRules.check(request.expected, size: ready.size, crc32c: ready.crc32c, md5: ready.md5)
    let (metadata, tokens) = try prepared(request.metadata, for: request.object, request.downloadTokens)
    let placed = try await write { transaction in
      try await place(
        ready, as: request.object, metadata: metadata, tokens: tokens, preconditions: request.preconditions,
        starter: context, in: transaction)
    }
    await collect(placed.replaced)
    return placed.record.object(named: request.object)
  }

  func startUpload(_ request: UploadRequest) async throws -> UploadID {
    try check(request)
    _ = try MetadataRules.prepared(request.metadata, for: request.object)
    let id = UploadID(rawValue: try newID())
    let shortest = min(lifetime, engine.options.tuning.shortLifetime.microseconds)
    var record = UploadRecord(
      request, blob: try newBlob(), expires: now + (request.isContinuable ? lifetime : shortest))
    record.owner = engine.owner
    try record.note(starter: context)
    let (ready, ownership) = (record, engine.options.tuning.ownership)
    await engine.expireUploads(now: now)
    try await write { transaction in
      // Whoever may turn out not to be allowed the upload is not told of the object that is there.
      if engine.gatekeeper == nil || context.isOwner {
        try PreconditionRules.check(request.preconditions, try await Self.object(request.object, in: transaction))
      }
      var record = ready
      record.ownedUntil = try await transaction.commitVersion().microseconds + ownership
      try await transaction.put(try record.fieldBytes(), for: Keys.upload(id))
    }
    return id
  }

  func append(_ id: UploadID, offset: Int64, bytes: [UInt8]) async throws -> UploadStatus {
    guard bytes.count <= UploadLimits.chunkLength else {
      throw StorageServiceError(
        .invalidArgument, "A chunk of \(bytes.count) bytes is too long: send at most \(UploadLimits.chunkLength).")
    }
    return try await withUpload(id) { upload in
      let progress = upload.progress
      guard offset == progress.size else {
        throw StorageServiceError(
          .outOfRange, "The upload has \(progress.size) bytes, and the chunk begins at \(offset).",
          reason: .wrongOffset(received: progress.size))
      }
      guard progress.size + Int64(bytes.count) <= UploadLimits.objectSize else {
        throw StorageServiceError(.invalidArgument, "An object cannot have more than \(UploadLimits.objectSize) bytes.")
      }
      try await keepOwned(upload)
      try await upload.append(bytes)
      if upload.progress.size - upload.progress.checkpoint >= engine.options.checkpointInterval {
        try await upload.startCheckpoint { try await note($0, of: id) }
      }
      return Self.status(.active, upload.progress)
    }
  }

  func status(_ id: UploadID) async throws -> UploadStatus {
    let record = try await activeOrFinal(id)
    if record.object != nil { return try Self.final(record) }
    do {
      return try await withUpload(id) { upload in
        UploadStatus(
          state: .active, received: upload.progress.size, crc32c: upload.progress.checksum.value,
          request: record.request, starter: try record.starterOrOwner())
      }
    } catch let error as StorageServiceError where error.reason == .uploadGone {
      // The call that this one has waited for may have finished the upload.
      guard let record = try await upload(id), record.object != nil else { throw error }
      return try Self.final(record)
    }
  }

  private static func final(_ record: UploadRecord) throws -> UploadStatus {
    UploadStatus(
      state: .final, received: record.object?.size ?? 0,
      crc32c: record.object.map { UInt32(truncatingIfNeeded: $0.crc32c) }, request: record.request,
      starter: try record.starterOrOwner())
  }

  func finalize(_ id: UploadID, expected: ContentDigest) async throws -> StorageObject {
    let record = try await activeOrFinal(id)
    if let object = record.object { return object.object(named: record.objectName) }
    do {
      return try await withUpload(id, keepsOpen: false) { upload in
        try await finish(upload, record, expected)
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

  // MARK: Steps

  private func finish(
    _ upload: ActiveUpload, _ record: UploadRecord, _ expected: ContentDigest
  ) async throws -> StorageObject {
    let progress = upload.progress
    let size = ContentDigest(size: record.size)
    for digest in [size, record.expected, expected] {
      try ContentRules.check(digest, size: progress.size, crc32c: progress.checksum.value, md5: nil)
    }
    var content: Content
    do {
      content = try await upload.seal()
    } catch let error as BlobError where error.code == .notFound {
      // Another process has taken the upload over, and has removed this blob.
      if let current = try await self.upload(upload.id) { try checkOwned(current, in: try await engine.frame.store()) }
      throw error
    }
    if content.md5 == nil, record.expected.md5 ?? expected.md5 != nil {
      // The sender knows the digest of content that gets none otherwise.
      content.md5 = try await digest(ofSealed: content)
    }
    for digest in [record.expected, expected] {
      try ContentRules.check(digest, size: content.size, crc32c: content.crc32c, md5: content.md5)
    }
    let (metadata, tokens) = try prepared(
      record.metadata.metadata, for: record.objectName, record.tokens)
    let (now, lifetime, ready, starter) = (now, lifetime, content, try record.starter())
    let store = try await engine.frame.store()
    let placed = try await write { transaction in
      guard var current = try await Self.upload(upload.id, in: transaction) else { throw Self.gone }
      // The commit of before has succeeded, and its answer was lost.
      if let object = current.object { return Placed(record: object, replaced: nil) }
      guard current.state == .active else { throw Self.gone }
      try checkOwned(current, in: store)
      let placed = try await place(
        ready, as: record.objectName, metadata: metadata, tokens: tokens, preconditions: record.preconditions,
        starter: starter, in: transaction)
      current.state = .final
      current.object = placed.record
      current.expires = now + lifetime
      try await transaction.put(try current.fieldBytes(), for: Keys.upload(upload.id))
      return placed
    }
    await collect(placed.replaced)
    return placed.record.object(named: record.objectName)
  }

  /// Notes how much of an upload is durable, and that this engine has it still.
  ///
  /// - Parameters:
  ///   - progress: The durable bytes; `nil` where they are as before.
  ///   - id: The upload.
  ///   - isLast: Whether the engine gives the upload up: another one may continue it at once.
  func note(_ progress: ActiveUpload.Progress?, of id: UploadID, isLast: Bool = false) async throws {
    let (store, ownership) = (try await engine.frame.store(), engine.options.tuning.ownership)
    try await write { transaction in
      guard var record = try await Self.upload(id, in: transaction), record.state == .active else { return }
      try checkOwned(record, in: store)
      if let progress {
        record.checkpoint = progress.size
        record.checkpointCRC32C = Int64(progress.checksum.value)
      }
      record.ownedUntil = isLast ? 0 : try await transaction.commitVersion().microseconds + ownership
      try await transaction.put(try record.fieldBytes(), for: Keys.upload(id))
    }
  }

  /// Runs a call on an upload, when the calls before it have done with the upload.
  private func withUpload<Result>(
    _ id: UploadID, keepsOpen: Bool = true, _ body: (ActiveUpload) async throws -> Result
  ) async throws -> Result {
    let idle = try await engine.uploads.take(id, waiting: engine.options.tuning.waitingCalls)
    var open: ActiveUpload?
    do {
      let upload: ActiveUpload
      if let idle { upload = idle } else { upload = try await reopened(id) }
      open = upload
      // Its blob may have been swept.
      guard upload.expires > now else { throw Self.gone }
      let result = try await body(upload)
      if !keepsOpen { await upload.close() }
      await giveBack(id, keepsOpen ? upload : nil)
      return result
    } catch {
      // A refused offset has changed nothing. After anything else the blob is opened again, from its checkpoint.
      let isUnchanged = (error as? StorageServiceError)?.code == .outOfRange
      if !isUnchanged { await open?.close() }
      await giveBack(id, isUnchanged ? open : nil)
      throw error
    }
  }

  private func giveBack(_ id: UploadID, _ upload: ActiveUpload?) async {
    let limit = engine.options.maximumOpenUploads
    guard let crowdedOut = engine.uploads.put(id, upload, limit: limit) else { return }
    await engine.suspend(crowdedOut)
    _ = engine.uploads.put(crowdedOut.id, nil, limit: limit)
  }

  private func digest(ofSealed content: Content) async throws -> [UInt8]? {
    guard let digest = try makeDigest() else { return nil }
    let reader = try await engine.blobs.read(content.blob)
    defer { reader.close() }
    _ = try await hash(reader, upTo: content.size, into: digest)
    return try digest.finish()
  }

  func activeOrFinal(_ id: UploadID) async throws -> UploadRecord {
    guard let record = try await upload(id), record.state != .cancelled,
      record.expires > now
    else { throw Self.gone }
    return record
  }

  /// Removes an upload that cannot be finished.
  private func discard(_ id: UploadID) async {
    do {
      try await remove(id, isOwner: true)
    } catch {
      log.notice("I-STS000003", "An upload that failed could not be removed yet: \(error)")
    }
  }

  /// - Parameter isOwner: Whether the upload stays when another process has taken it over.
  private func remove(_ id: UploadID, isOwner: Bool = false) async throws {
    do {
      try await noteRemoval(id, isOwner)
    } catch let error as StoreError where error.code == .diskFull {
      // The content makes room for the note. A session whose content was removed takes nothing more, noted or not.
      guard let record = try await upload(id), record.state == .active,
        let blob = record.blobID
      else { throw error }
      if isOwner { try checkOwned(record, in: try await engine.frame.store()) }
      try await engine.blobs.remove(blob)
      try await noteRemoval(id, isOwner)
    }
  }

  private func noteRemoval(_ id: UploadID, _ isOwner: Bool) async throws {
    let store = try await engine.frame.store()
    let blob = try await write { transaction -> BlobID? in
      guard var record = try await Self.upload(id, in: transaction), record.state != .cancelled else { return nil }
      guard record.state == .active else {
        // Finished in the meantime: whoever cancels must not believe that there is no object.
        if isOwner { return nil }
        throw Self.finished
      }
      if isOwner { try checkOwned(record, in: store) }
      record.state = .cancelled
      try await transaction.put(try record.fieldBytes(), for: Keys.upload(id))
      guard let blob = record.blobID else { return nil }
      try await transaction.put([], for: Keys.garbage(blob))
      return blob
    }
    await collect(blob)
  }

  // MARK: Small things

  private func check(_ request: UploadRequest) throws(StorageServiceError) {
    try ObjectNameRules.check(request.object)
    guard request.size ?? 0 >= 0, request.size ?? 0 <= UploadLimits.objectSize else {
      throw StorageServiceError(.invalidArgument, "An object cannot have \(request.size ?? 0) bytes.")
    }
  }

  private func prepared(
    _ metadata: ObjectMetadata, for name: ObjectName, _ wanted: UploadTokens
  ) throws -> (metadata: ObjectMetadata, tokens: [String]) {
    let (metadata, own) = try MetadataRules.prepared(metadata, for: name)
    var tokens = own
    if case .these(let others) = wanted { for token in others where !tokens.contains(token) { tokens.append(token) } }
    if tokens.isEmpty, wanted != .none { tokens = [try newToken()] }
    return (metadata, tokens)
  }

  /// The MD5 digest; `nil` where the system bars MD5.
  private func digest(of content: [UInt8]) throws -> [UInt8]? {
    do {
      return try engine.crypto.digest(.md5, of: content)
    } catch CryptoError.Code.unsupported {
      return nil
    }
  }

  /// A digest for content of a size; `nil` for content that gets none.
  func makeDigest(for size: Int64) throws -> (any DigestStream)? {
    size <= engine.options.digestLimit ? try makeDigest() : nil
  }

  /// A digest; `nil` where the system bars MD5.
  func makeDigest() throws -> (any DigestStream)? {
    do {
      return try engine.crypto.makeDigestStream(.md5)
    } catch CryptoError.Code.unsupported {
      return nil
    }
  }

  private var lifetime: Int64 { engine.options.sessionLifetime.microseconds }

  private static func status(_ state: UploadStatus.State, _ progress: ActiveUpload.Progress) -> UploadStatus {
    UploadStatus(state: state, received: progress.size, crc32c: progress.checksum.value)
  }

  private static let finished = StorageServiceError(
    .failedPrecondition, "The upload is finished. Delete the object instead.")

  static let gone = StorageServiceError(
    .notFound, "The upload session is unknown or has expired. Upload again.", reason: .uploadGone)
}

extension StorageEngine {
  /// Closes an upload that may continue later, from its present size.
  func suspend(_ upload: ActiveUpload) async {
    let call = StorageCall(engine: self, context: CallContext(), now: clock.now())
    do {
      try await upload.startCheckpoint { try await call.note($0, of: upload.id, isLast: true) }
      try await upload.finishCheckpoint()
    } catch {
      log.debug("I-STS000004", "An interrupted upload goes on from its last checkpoint: \(error)")
    }
    await upload.close()
  }
}

private let log = Logger(service: "VestaStorageService")
