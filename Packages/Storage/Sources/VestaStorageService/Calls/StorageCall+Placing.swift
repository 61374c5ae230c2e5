import VestaConcurrency
import VestaCore
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// An object's new row, and the blobs to remove after the commit.
struct PlacedObject: Sendable {
  let record: ObjectRecord
  var unused: [BlobID]
}

extension StorageCall {
  /// Puts an object in place of the one that may be there, in a transaction.
  ///
  /// - Parameter starter: The caller who started the upload, as `UploadRecord.starter()` returns it; `nil` for an
  ///   owner.
  /// - Returns: The row, and the blob of the one that was there.
  func place(
    _ content: ReadyContent, as name: ObjectName, metadata: ObjectMetadata, tokens: [String],
    preconditions: Preconditions, starter: CallContext?, in transaction: any StoreTransaction
  ) async throws -> PlacedObject {
    let old = try await existing(name, preconditions, for: starter, in: transaction).record
    if let starter {
      try await ask(
        .upload(Self.uploaded(content, as: name, metadata, tokens), existing: old?.object(named: name)), of: starter)
    }
    try PreconditionRules.check(preconditions, old)
    var record = ObjectRecord(content, metadata, tokens, now: now)
    // The version of the commit is a time that only grows, whatever the clock does.
    record.generation = Int64(clamping: try await transaction.commitVersion().rawValue)
    try await transaction.put(try record.fieldBytes(), for: Keys.object(name))
    // The replaced generation is deleted, as there is only one.
    let (events, cause) = (engine.events, EventCause(context, startedBy: starter?.caller))
    if let old { try await ObjectEvents.record(.objectDeleted, name, old, events, cause, in: transaction) }
    try await ObjectEvents.record(.objectFinalized, name, record, events, cause, in: transaction)
    if let inline = content.inline { try await transaction.put(inline, for: Keys.content(content.blob)) }
    let unused = try await Self.discardContent(of: old, in: transaction)
    return PlacedObject(record: record, unused: unused.map { [$0] } ?? [])
  }

  /// The object that a call is about to replace or delete.
  ///
  /// A row that cannot be read must not keep its name for good, and the list of its folder from everybody. It counts as
  /// none where no guard is asked about the object and no condition is made, as neither could be answered.
  ///
  /// - Parameter caller: The caller about whom a guard is asked; `nil` for an owner.
  /// - Returns: The row; `nil` without one, and for one that is damaged.
  func existing(
    _ name: ObjectName, _ preconditions: Preconditions, for caller: CallContext?,
    in transaction: any StoreTransaction
  ) async throws -> (record: ObjectRecord?, isDamaged: Bool) {
    do {
      return (try await transaction.object(name), false)
    } catch let error as StorageServiceError where error.code == .dataLoss {
      let isAsked = engine.gatekeeper != nil && caller?.isOwner == false
      guard !isAsked, preconditions == .none else { throw error }
      log.error("I-STS000007", "\(error.message). It gives way; a file of its content stays, as nothing names it.")
      return (nil, true)
    }
  }

  /// Deletes the objects that another one was made of, in the transaction that puts it in place.
  ///
  /// One that was replaced or deleted since it was read stays as it is, and so does the new object.
  ///
  /// - Returns: The blobs to remove after the commit.
  func delete(
    _ sources: [FoundObject], for target: ObjectName, in transaction: any StoreTransaction
  ) async throws -> [BlobID] {
    var unused: [BlobID] = []
    for source in sources where source.name != target {
      guard let record = try await transaction.object(source.name), record.generation == source.record.generation else {
        continue
      }
      try await ask(.delete(source.name, existing: record.object(named: source.name)))
      try await deleteRow(record, of: source.name, in: transaction)
      if let blob = try await Self.discardContent(of: record, in: transaction) { unused.append(blob) }
    }
    return unused
  }

  /// Deletes the row of an object; its content stays.
  func deleteRow(_ record: ObjectRecord, of name: ObjectName, in transaction: any StoreTransaction) async throws {
    try await transaction.delete(Keys.object(name))
    try await ObjectEvents.record(.objectDeleted, name, record, engine.events, EventCause(context), in: transaction)
  }

  /// Removes the content of an object's row, in a transaction.
  ///
  /// - Returns: The blob to remove after the commit; its garbage row is there until then.
  static func discardContent(of old: ObjectRecord?, in transaction: any StoreTransaction) async throws -> BlobID? {
    guard let old, let blob = old.blobID else { return nil }
    guard !old.isInline else {
      try await transaction.delete(Keys.content(blob))
      return nil
    }
    try await transaction.put([], for: Keys.garbage(blob))
    return blob
  }

  /// Removes a blob after the commit that made it garbage; the next start tries again where this fails.
  func collect(_ blob: BlobID?) async {
    guard let blob else { return }
    do {
      try await engine.blobs.remove(blob)
      engine.garbage.withLock { $0.append(blob) }
    } catch {
      log.notice("I-STS000002", "The file of a replaced object could not be removed yet: \(error)")
    }
  }
}

extension ObjectRecord {
  /// The row of new content, without its generation.
  fileprivate init(_ content: ReadyContent, _ metadata: ObjectMetadata, _ tokens: [String], now: Int64) {
    self.init()
    metageneration = 1
    size = content.size
    crc32c = Int64(content.crc32c)
    md5 = content.md5
    timeCreated = now
    updated = now
    self.metadata = MetadataRecord(metadata)
    downloadTokens = tokens
    blob = content.blob.rawValue
    isInline = content.inline != nil
  }
}

private let log = Logger(service: "VestaStorageService")
