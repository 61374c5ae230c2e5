import VestaBytes
import VestaConcurrency
import VestaEngineInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// Reads, lists, changes and deletes objects.
struct ObjectCall: StorageCall {
  let engine: StorageEngine
  let context: CallContext
  let now: Int64

  func get(_ name: ObjectName, _ preconditions: Preconditions) async throws -> StorageObject {
    let record = try await object(name)
    try await ask(.get(name, existing: record?.object(named: name)))
    guard let record else { throw StorageServiceError.noObject(name) }
    try PreconditionRules.check(preconditions, record)
    return record.object(named: name)
  }

  func open(_ request: ReadRequest) async throws -> ObjectDownload {
    // A missing blob means that the object was replaced between the two steps: its new row has another one.
    for _ in 0..<engine.options.tuning.openAttempts {
      let found = try await find(request)
      if let content = try await content(of: found) {
        return ObjectDownload(object: found.record.object(named: found.name), content: content)
      }
    }
    throw missingContent(of: request.object)
  }

  /// The object of a read that the caller may make, and whose preconditions hold.
  func find(_ request: ReadRequest) async throws -> FoundObject {
    let name = request.object
    let rows = try await rows(of: name)
    // In the same snapshot as the read: a token that was revoked opens nothing.
    if rows?.record.hasToken(request.downloadToken) != true {
      try await ask(.get(name, existing: rows?.record.object(named: name)))
    }
    guard let (record, inline) = rows else { throw StorageServiceError.noObject(name) }
    try PreconditionRules.check(request.preconditions, record)
    return FoundObject(
      name: name, record: record, inline: inline, range: try ByteRange(request, size: record.size))
  }

  private func missingContent(of name: ObjectName) -> StorageServiceError {
    StorageServiceError(
      .dataLoss,
      """
      The content of \(name) is not in \(engine.content.name). Where other processes use the same store, they \
      and this one need the same place; otherwise restore the place from a copy, or upload the object again.
      """)
  }

  /// The bytes of an object; `nil` where its blob is missing.
  func content(of found: FoundObject) async throws -> (any ObjectContent)? {
    let range = found.range
    if let inline = found.inline { return InlineContent(inline[Int(range.start)..<Int(range.end)]) }
    guard let blob = found.record.blobID else { return nil }
    do {
      return BlobContent(try await engine.blobs.read(blob), range)
    } catch let error as BlobError where error.code == .notFound {
      return nil
    }
  }

  private func rows(of name: ObjectName) async throws -> (record: ObjectRecord, inline: [UInt8]?)? {
    try await read(expecting: .keys([Keys.object(name)])) { reader in
      guard let record = try await reader.object(name) else { return nil }
      guard record.isInline, let blob = record.blobID else { return (record, nil) }
      guard let content = try await reader.get(Keys.content(blob)), Int64(content.count) == record.size else {
        throw StorageServiceError(.dataLoss, "The content of \(name) is damaged. Upload it again.")
      }
      return (record, content)
    }
  }

  func update(
    _ name: ObjectName, _ change: MetadataChange, _ preconditions: Preconditions
  ) async throws -> StorageObject {
    try await changed(name, preconditions) { [now] record in
      let (metadata, tokens) = try MetadataRules.applying(change, to: record.metadata.metadata)
      record.metadata = MetadataRecord(metadata)
      for token in tokens where !record.downloadTokens.contains(token) { record.downloadTokens.append(token) }
      record.updated = max(now, record.updated)
      return true
    }
  }

  func changeTokens(_ name: ObjectName, _ action: DownloadTokenAction) async throws -> StorageObject {
    let token = try newToken()
    return try await changed(name, .none, isRead: action == .ensure) { [now] record in
      switch action {
      case .ensure where !record.downloadTokens.isEmpty: return false
      case .add, .ensure: record.downloadTokens.append(token)
      case .revoke(let revoked):
        guard record.downloadTokens.contains(revoked) else { return false }
        record.downloadTokens.removeAll { $0 == revoked }
        if record.downloadTokens.isEmpty { record.downloadTokens = [token] }
      }
      record.updated = max(now, record.updated)
      return true
    }
  }

  /// Changes an object's row, if `change` returns that it has changed.
  ///
  /// - Parameter isRead: Whether the guard is asked as about a read.
  private func changed(
    _ name: ObjectName, _ preconditions: Preconditions, isRead: Bool = false,
    _ change: @escaping @Sendable (inout ObjectRecord) throws -> Bool
  ) async throws -> StorageObject {
    let events = engine.events
    return try await write { transaction in
      guard let old = try await transaction.object(name) else {
        try await askToChange(name, nil, nil, isRead)
        throw StorageServiceError.noObject(name)
      }
      var record = old
      let hasChanged = try change(&record)
      if hasChanged { record.metageneration += 1 }
      try await askToChange(name, old, record, isRead)
      try PreconditionRules.check(preconditions, old)
      guard hasChanged else { return old.object(named: name) }
      try await transaction.put(try record.fieldBytes(), for: Keys.object(name))
      try await ObjectEvents.record(.objectMetadataUpdated, name, record, events, EventCause(context), in: transaction)
      return record.object(named: name)
    }
  }

  /// Asks the guard about a change, or about the read that it is for callers.
  private func askToChange(
    _ name: ObjectName, _ old: ObjectRecord?, _ new: ObjectRecord?, _ isRead: Bool
  ) async throws {
    let existing = old?.object(named: name)
    try await ask(
      isRead ? .get(name, existing: existing) : .update(name, existing: existing, new: new?.object(named: name)))
  }

  func delete(_ name: ObjectName, _ preconditions: Preconditions) async throws {
    do {
      try await deleteRows(name, preconditions)
    } catch let error as StoreError where error.code == .diskFull {
      // The rows need a little room until the content is removed.
      guard await engine.blobs.makeRoom() else { throw error }
      do {
        try await deleteRows(name, preconditions)
      } catch {
        await engine.blobs.keepRoom(engine.options.tuning.reservedBytes)
        throw error
      }
      await engine.blobs.keepRoom(engine.options.tuning.reservedBytes)
    }
  }

  private func deleteRows(_ name: ObjectName, _ preconditions: Preconditions) async throws {
    let blob = try await write { transaction -> BlobID? in
      let (record, isDamaged) = try await existing(name, preconditions, for: context, in: transaction)
      try await ask(.delete(name, existing: record?.object(named: name)))
      guard let record else {
        guard isDamaged else { throw StorageServiceError.noObject(name) }
        try await transaction.delete(Keys.object(name))
        return nil
      }
      try PreconditionRules.check(preconditions, record)
      try await deleteRow(record, of: name, in: transaction)
      return try await Self.discardContent(of: record, in: transaction)
    }
    await collect(blob)
  }
}

/// The bytes of a small object, which were read with its row.
final class InlineContent: ObjectContent {
  private let rest: Locked<ArraySlice<UInt8>>

  init(_ bytes: ArraySlice<UInt8>) { rest = Locked(bytes) }

  func read(maximumLength: Int) async throws -> [UInt8] {
    rest.withLock { rest in
      let next = Array(rest.prefix(max(1, maximumLength)))
      rest = rest.dropFirst(next.count)
      return next
    }
  }

  func close() { rest.withLock { $0 = [] } }
}

/// The bytes of a blob.
final class BlobContent: ObjectContent {
  private let reader: any BlobReader
  private let end: Int64
  private let position: Locked<Int64>

  init(_ reader: any BlobReader, _ range: ByteRange) {
    self.reader = reader
    end = range.end
    position = Locked(range.start)
  }

  deinit { reader.close() }

  func read(maximumLength: Int) async throws -> [UInt8] {
    try Task.checkCancellation()
    let start = position.withLock { $0 }
    let length = Int(min(Int64(max(1, maximumLength)), end - start))
    guard length > 0 else { return [] }
    do {
      let bytes = try await reader.read(at: start, length: length)
      position.withLock { $0 = start + Int64(bytes.count) }
      return bytes
    } catch {
      throw BlobFailures.failure(for: error) ?? error
    }
  }

  func section() -> FileSection? {
    let start = position.withLock { $0 }
    // A file that is too short is found damaged by reading.
    guard start < end, reader.size >= end, let file = try? reader.openFile() else { return nil }
    return FileSection(file, offset: start, count: Int(end - start))
  }

  func close() { reader.close() }
}
