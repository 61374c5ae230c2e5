import VestaBytes
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaEngineInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

// The steps of the calls on an upload.
extension UploadCall {
  func finish(
    _ upload: ActiveUpload, _ record: UploadRecord, _ expected: ContentDigest, deleting deleted: [FoundObject]
  ) async throws -> StorageObject {
    let content = try await sealed(upload, record, expected)
    let placed = try await commit(content, of: upload.id, record, deleting: deleted)
    for blob in placed.unused { await collect(blob) }
    return placed.record.object(named: record.objectName)
  }

  /// Seals the blob of an upload, and checks its content against what its sender knows of it.
  private func sealed(
    _ upload: ActiveUpload, _ record: UploadRecord, _ expected: ContentDigest
  ) async throws -> ReadyContent {
    let progress = upload.progress
    let size = ContentDigest(size: record.size)
    for digest in [size, record.expected, expected] {
      try ContentRules.check(digest, size: progress.size, crc32c: progress.checksum.value, md5: nil)
    }
    var content = try await sealedBlob(of: upload)
    if content.md5 == nil, record.expected.md5 ?? expected.md5 != nil {
      // The sender knows the digest of content that gets none otherwise.
      content.md5 = try await digest(ofSealed: content)
    }
    for digest in [record.expected, expected] {
      try ContentRules.check(digest, size: content.size, crc32c: content.crc32c, md5: content.md5)
    }
    return content
  }

  private func sealedBlob(of upload: ActiveUpload) async throws -> ReadyContent {
    do {
      return try await upload.seal()
    } catch let error as BlobError where error.code == .notFound {
      // Another process has taken the upload over, and has removed this blob.
      if let current = try await self.upload(upload.id) { try checkOwned(current, in: try await engine.frame.store()) }
      throw error
    }
  }

  /// Makes sealed content the object, and the upload final, in one transaction.
  private func commit(
    _ content: ReadyContent, of id: UploadID, _ record: UploadRecord, deleting deleted: [FoundObject]
  ) async throws -> PlacedObject {
    let (metadata, tokens) = try prepared(
      record.metadata.metadata, for: record.objectName, record.tokens)
    let (now, lifetime, starter) = (now, lifetime, try record.starter())
    let store = try await engine.frame.store()
    return try await write { transaction in
      guard var current = try await transaction.upload(id) else { throw Self.gone }
      // The commit of before has succeeded, and its answer was lost.
      if let object = current.object { return PlacedObject(record: object, unused: []) }
      guard current.state == .active else { throw Self.gone }
      try checkOwned(current, in: store)
      let unused = try await delete(deleted, for: record.objectName, in: transaction)
      var placed = try await place(
        content, as: record.objectName, metadata: metadata, tokens: tokens, preconditions: record.preconditions,
        starter: starter, in: transaction)
      placed.unused += unused
      current.state = .final
      current.object = placed.record
      current.expires = now + lifetime
      try await transaction.put(try current.fieldBytes(), for: Keys.upload(id))
      return placed
    }
  }

  /// Notes how much of an upload is durable, and that this engine has it still.
  ///
  /// - Parameters:
  ///   - progress: The durable bytes; `nil` where they are as before.
  ///   - id: The upload.
  ///   - isLast: Whether the engine releases the upload: another one may continue it at once.
  func note(_ progress: ActiveUpload.Progress?, of id: UploadID, isLast: Bool = false) async throws {
    let (store, ownership) = (try await engine.frame.store(), engine.options.tuning.ownership)
    try await write { transaction in
      guard var record = try await transaction.upload(id), record.state == .active else { return }
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
  func withUpload<Result>(
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

  private func digest(ofSealed content: ReadyContent) async throws -> [UInt8]? {
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
  func discard(_ id: UploadID) async {
    do {
      try await remove(id, isOwner: true)
    } catch {
      log.notice("I-STS000003", "An upload that failed could not be removed yet: \(error)")
    }
  }

  /// - Parameter isOwner: Whether the upload stays when another process has taken it over.
  func remove(_ id: UploadID, isOwner: Bool = false) async throws {
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
      guard var record = try await transaction.upload(id), record.state != .cancelled else { return nil }
      guard record.state == .active else {
        // Finished in the meantime: the caller must not believe that there is no object.
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
}

extension StorageEngine {
  /// Closes an upload that may continue later, from its present size.
  func suspend(_ upload: ActiveUpload) async {
    let call = UploadCall(engine: self, context: CallContext(), now: clock.now())
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
