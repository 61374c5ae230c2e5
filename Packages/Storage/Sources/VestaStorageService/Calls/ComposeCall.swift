import VestaBytes
import VestaConcurrency
import VestaEngineInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// Makes objects of others.
///
/// | call | content | commit |
/// |---|---|---|
/// | one whole source that is deleted: a move | stays in its blob | both rows, in one transaction |
/// | any other | a new blob, as of an upload | the new row, and the rows of deleted sources, in one transaction |
struct ComposeCall: StorageCall {
  let engine: StorageEngine
  let context: CallContext
  let now: Int64

  private var objects: ObjectCall { ObjectCall(engine: engine, context: context, now: now) }
  private var uploads: UploadCall { UploadCall(engine: engine, context: context, now: now) }

  func compose(
    _ request: UploadRequest, of sources: [ReadRequest], deletesSources: Bool
  ) async throws -> StorageObject {
    try UploadLimits.check(sources)
    try uploads.check(request)
    if deletesSources, sources.count == 1, sources[0].object != request.object, sources[0].isOfWhole {
      return try await move(sources[0], request)
    }
    var found: [FoundObject] = []
    for source in sources { found.append(try await objects.find(source)) }
    let size = found.reduce(Int64(0)) { $0 + $1.range.end - $1.range.start }
    try uploads.check(size: size)
    return try await upload(zip(sources, found).map { Source(request: $0, found: $1) }, size, request, deletesSources)
  }

  // MARK: Moving

  /// Gives the content of an object another name.
  private func move(_ source: ReadRequest, _ request: UploadRequest) async throws -> StorageObject {
    let (metadata, tokens) = try uploads.prepared(request.metadata, for: request.object, request.downloadTokens)
    let placed = try await write { transaction in
      let record = try await readable(source, in: transaction)
      let content = try await Self.content(of: record, source.object, in: transaction)
      for expected in [ContentDigest(size: request.size), request.expected] {
        try ContentRules.check(expected, size: content.size, crc32c: content.crc32c, md5: content.md5)
      }
      try await ask(.delete(source.object, existing: record.object(named: source.object)))
      try await deleteRow(record, of: source.object, in: transaction)
      return try await place(
        content, as: request.object, metadata: metadata, tokens: tokens, preconditions: request.preconditions,
        starter: context, in: transaction)
    }
    for blob in placed.unused { await collect(blob) }
    return placed.record.object(named: request.object)
  }

  /// The row of an object that the caller may read, and whose preconditions hold.
  private func readable(_ source: ReadRequest, in transaction: any StoreTransaction) async throws -> ObjectRecord {
    let (name, record) = (source.object, try await transaction.object(source.object))
    if record?.hasToken(source.downloadToken) != true {
      try await ask(.get(name, existing: record?.object(named: name)))
    }
    guard let record else { throw StorageServiceError.noObject(name) }
    try PreconditionRules.check(source.preconditions, record)
    return record
  }

  /// The content of a row, for another row.
  private static func content(
    of record: ObjectRecord, _ name: ObjectName, in transaction: any StoreTransaction
  ) async throws -> ReadyContent {
    guard let blob = record.blobID else {
      throw StorageServiceError(.dataLoss, "The row of \(name) is damaged. Upload it again.")
    }
    var inline: [UInt8]?
    if record.isInline {
      inline = try await transaction.get(Keys.content(blob))
      guard let inline, Int64(inline.count) == record.size else {
        throw StorageServiceError(.dataLoss, "The content of \(name) is damaged. Upload it again.")
      }
    }
    return ReadyContent(
      blob: blob, inline: inline, size: record.size, crc32c: UInt32(truncatingIfNeeded: record.crc32c),
      md5: record.md5)
  }

  // MARK: Copying

  private struct Source {
    let request: ReadRequest
    let found: FoundObject
  }

  private func upload(
    _ sources: [Source], _ size: Int64, _ request: UploadRequest, _ deletesSources: Bool
  ) async throws -> StorageObject {
    let space = try await engine.room.take(size, in: engine.blobs)
    defer { space.end() }
    var request = request
    request.isContinuable = false
    let id = try await uploads.startUpload(request)
    do {
      var offset: Int64 = 0
      for source in sources { offset = try await append(source, to: id, at: offset, space) }
      return try await uploads.finalize(
        id, expected: ContentDigest(size: offset), deleting: deletesSources ? sources.map(\.found) : [])
    } catch {
      // In a separate task: a cancelled caller leaves no upload.
      await Task { try? await uploads.cancel(id) }.value
      throw error
    }
  }

  /// Appends a source; returns the size of the upload afterwards.
  private func append(
    _ source: Source, to id: UploadID, at start: Int64, _ space: CompositionRoom.Space
  ) async throws -> Int64 {
    let content: any ObjectContent
    if let found = try await objects.content(of: source.found) {
      content = found
    } else {
      content = try await objects.open(source.request).content
    }
    defer { content.close() }
    var offset = start
    while true {
      let bytes = try await content.read(maximumLength: engine.options.tuning.pieceLength)
      if bytes.isEmpty { return offset }
      _ = try await uploads.append(id, offset: offset, bytes: bytes)
      space.fill(Int64(bytes.count))
      offset += Int64(bytes.count)
    }
  }
}

extension ReadRequest {
  /// Whether it asks for all bytes of the object.
  fileprivate var isOfWhole: Bool { offset == 0 && length == nil && suffix == nil }
}
