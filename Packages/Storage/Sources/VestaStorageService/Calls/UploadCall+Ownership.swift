import VestaConcurrency
import VestaCore
import VestaEngineInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

// On a store of several processes an upload has one owner at a time: the process that writes its blob. The times are
// the store's versions, which all processes share, so no process's clock has a say.
//
// | the row says | the asker is | answer |
// |---|---|---|
// | an owner, and a time in the future | another | `aborted`: ask again |
// | an owner, and a time in the past | another | takes the upload over, with a copy of what is durable |
// | the asker | the owner | continues; renews when half of the time has passed |
//
// The copy keeps the former owner from the content: if it was only stopped, its later writes change a blob that no
// row names, and its notes and its finalization are refused.
extension UploadCall {
  static let taken = StorageServiceError(
    .aborted, "Another process has this upload now. Ask for its status and continue there.")

  /// Takes an upload for this engine before its blob is opened.
  ///
  /// - Returns: The row, and whether its blob was another process's: then it has to be copied.
  func own(_ id: UploadID) async throws -> (record: UploadRecord, needsCopy: Bool) {
    guard try await engine.frame.store().isShared else { return (try await activeOrFinal(id), false) }
    let (owner, length, now) = (engine.owner, engine.options.tuning.ownership, now)
    return try await write { transaction in
      guard var record = try await transaction.upload(id), record.state != .cancelled, record.expires > now
      else {
        throw Self.gone
      }
      guard record.object == nil else { return (record, false) }
      let version = try await transaction.commitVersion().microseconds
      guard record.owner == owner || record.ownedUntil <= version else { throw Self.taken }
      let needsCopy = record.owner != owner || record.needsCopy
      (record.owner, record.ownedUntil, record.needsCopy) = (owner, version + length, needsCopy)
      try await transaction.put(try record.fieldBytes(), for: Keys.upload(id))
      return (record, needsCopy)
    }
  }

  /// Copies the durable bytes of an upload to a blob that no other process has open.
  func copied(_ id: UploadID, _ record: UploadRecord) async throws -> UploadRecord {
    guard let old = record.blobID else { throw Self.gone }
    let blob = try newBlob()
    try await copy(old, to: blob, upTo: record.checkpoint)
    let owner = engine.owner
    let (new, unused) = try await write { transaction -> (UploadRecord, BlobID) in
      guard var current = try await transaction.upload(id), current.state == .active else { throw Self.gone }
      guard current.owner == owner else { throw Self.taken }
      (current.blob, current.needsCopy) = (blob.rawValue, false)
      try await transaction.put(try current.fieldBytes(), for: Keys.upload(id))
      try await transaction.put([], for: Keys.garbage(old))
      return (current, old)
    }
    await collect(unused)
    return new
  }

  private func copy(_ old: BlobID, to blob: BlobID, upTo size: Int64) async throws {
    let writer = try await engine.blobs.write(blob, keeping: 0)
    defer { writer.close() }
    guard size > 0 else { return }
    let reader = try await engine.blobs.readUnsealed(old)
    defer { reader.close() }
    var offset: Int64 = 0
    while offset < size {
      let length = Int(min(Int64(engine.options.tuning.pieceLength), size - offset))
      let bytes = try await reader.read(at: offset, length: length)
      guard !bytes.isEmpty else { throw Self.gone }
      try await writer.append(bytes)
      offset += Int64(bytes.count)
    }
    try await writer.sync()
  }

  /// Renews the ownership of an open upload when half of its time has passed.
  ///
  /// - Throws: `aborted` when another process has taken the upload over.
  func keepOwned(_ upload: ActiveUpload) async throws {
    guard upload.isRenewalDue(engine.options.tuning.ownership), try await engine.frame.store().isShared else { return }
    try await note(nil, of: upload.id, isLast: false)
    upload.renewed()
  }

  /// Refuses a change of an upload that another process has taken over, in the transaction of the change.
  func checkOwned(_ record: UploadRecord, in store: any OrderedStore) throws {
    guard !store.isShared || record.owner == engine.owner else { throw Self.taken }
  }
}
