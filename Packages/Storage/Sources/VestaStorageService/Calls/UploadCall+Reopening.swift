import VestaBytes
import VestaCryptoInterop
import VestaServiceInterop
import VestaStorageBackend

extension UploadCall {
  /// Opens an upload that another process, or this one some time ago, has begun.
  func reopened(_ id: UploadID) async throws -> ActiveUpload {
    var (record, needsCopy) = try await own(id)
    guard record.object == nil, let known = record.blobID else { throw Self.gone }
    var blob = known
    do {
      if needsCopy, try await !engine.isSealed(blob) {
        record = try await copied(id, record)
        blob = record.blobID ?? blob
      }
      return try await reopened(id, blob, record)
    } catch let error as BlobError {
      switch error.code {
      case .notFound: throw Self.gone
      case .sealed: return try await reopenedSealed(id, blob, record)
      default: throw error
      }
    }
  }

  private func reopened(_ id: UploadID, _ blob: BlobID, _ record: UploadRecord) async throws -> ActiveUpload {
    let writer = try await engine.blobs.write(blob, keeping: record.checkpoint)
    do {
      let digest = try makeDigest(for: max(record.size ?? 0, record.checkpoint))
      let checksum = try await hash(unsealed: blob, upTo: record.checkpoint, into: digest)
      guard Int64(checksum.value) == record.checkpointCRC32C else { throw Self.gone }
      return ActiveUpload(
        id: id, blob: blob, expires: record.expires, writer: writer, digest: digest,
        digestLimit: engine.options.digestLimit,
        progress: ActiveUpload.Progress(
          size: record.checkpoint, checksum: checksum, checkpoint: record.checkpoint))
    } catch {
      writer.close()
      throw error
    }
  }

  private func reopenedSealed(_ id: UploadID, _ blob: BlobID, _ record: UploadRecord) async throws -> ActiveUpload {
    let reader = try await engine.blobs.read(blob)
    defer { reader.close() }
    let size = reader.size
    let digest = try makeDigest(for: size)
    let checksum = try await hash(reader, upTo: size, into: digest)
    return ActiveUpload(
      id: id, blob: blob, expires: record.expires, writer: nil, digest: digest,
      digestLimit: engine.options.digestLimit,
      progress: ActiveUpload.Progress(size: size, checksum: checksum, checkpoint: size, isSealed: true))
  }

  private func hash(
    unsealed blob: BlobID, upTo size: Int64, into digest: (any DigestStream)?
  ) async throws -> CRC32C {
    guard size > 0 else { return CRC32C() }
    let reader = try await engine.blobs.readUnsealed(blob)
    defer { reader.close() }
    return try await hash(reader, upTo: size, into: digest)
  }

  func hash(
    _ reader: any BlobReader, upTo size: Int64, into digest: (any DigestStream)?
  ) async throws -> CRC32C {
    var checksum = CRC32C()
    var offset: Int64 = 0
    while offset < size {
      let length = Int(min(Int64(engine.options.tuning.pieceLength), size - offset))
      let bytes = try await reader.read(at: offset, length: length)
      guard !bytes.isEmpty else { throw Self.gone }
      checksum.update(bytes)
      try digest?.update(bytes)
      offset += Int64(bytes.count)
    }
    return checksum
  }
}
