import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaServiceInterop
import VestaStorageBackend

/// An upload whose blob is open: what has been written, and its digests so far.
///
/// Whoever holds it through ``ActiveUploads`` is alone with it.
final class ActiveUpload: Sendable {
  struct Progress: Sendable {
    var size: Int64
    var checksum: CRC32C
    var checkpoint: Int64
    /// The blob was sealed before a crash: it takes no more bytes.
    var isSealed = false
  }

  let id: UploadID
  let blob: BlobID
  private let writer: (any BlobWriter)?
  private let digest: (any DigestStream)?
  private let state: Locked<Progress>

  init(
    id: UploadID, blob: BlobID, writer: (any BlobWriter)?, digest: (any DigestStream)?, progress: Progress
  ) {
    self.id = id
    self.blob = blob
    self.writer = writer
    self.digest = digest
    state = Locked(progress)
  }

  var progress: Progress { state.withLock { $0 } }

  /// Appends bytes: the digest is computed beside the writing.
  func append(_ bytes: [UInt8]) async throws {
    guard let writer else {
      throw StorageServiceError(.failedPrecondition, "The upload is complete. Finalize it.")
    }
    async let digested: Void = { [digest] in try digest?.update(bytes) }()
    try await writer.append(bytes)
    try await digested
    state.withLock { state in
      state.checksum.update(bytes)
      state.size += Int64(bytes.count)
    }
  }

  /// Makes what has arrived durable.
  func sync() async throws { try await writer?.sync() }

  func noteCheckpoint() { state.withLock { $0.checkpoint = $0.size } }

  /// Seals the blob.
  ///
  /// - Returns: The content as it is now.
  func seal() async throws -> StorageCall.Content {
    let md5 = try digest?.finish()
    if !progress.isSealed { try await writer?.seal() }
    let progress = progress
    return StorageCall.Content(
      blob: blob, inline: nil, size: progress.size, crc32c: progress.checksum.value, md5: md5)
  }

  func close() { writer?.close() }
}

/// The uploads that are open, each used by one call at a time.
final class ActiveUploads: Sendable {
  private struct State {
    var idle: [UploadID: ActiveUpload] = [:]
    var order: [UploadID] = []
    var busy: Set<UploadID> = []
  }

  private let state = Locked(State())

  /// Takes an upload for a call.
  ///
  /// - Returns: The open upload; `nil` when it has to be opened.
  /// - Throws: `aborted` when another call has it.
  func take(_ id: UploadID) throws(StorageServiceError) -> ActiveUpload? {
    let (isBusy, upload) = state.withLock { state -> (Bool, ActiveUpload?) in
      guard state.busy.insert(id).inserted else { return (true, nil) }
      state.order.removeAll { $0 == id }
      return (false, state.idle.removeValue(forKey: id))
    }
    guard !isBusy else {
      throw StorageServiceError(.aborted, "Another call writes to this upload. Ask for its status and continue there.")
    }
    return upload
  }

  /// Gives an upload back.
  ///
  /// - Parameters:
  ///   - id: The upload.
  ///   - upload: The open upload; `nil` when it is not open any more.
  ///   - limit: How many uploads stay open.
  /// - Returns: The upload that was idle for longest, when there are too many: for the caller to close and to give
  ///   back.
  func put(_ id: UploadID, _ upload: ActiveUpload?, limit: Int) -> ActiveUpload? {
    state.withLock { state in
      state.busy.remove(id)
      guard let upload else { return nil }
      state.idle[id] = upload
      state.order.append(id)
      guard state.order.count > max(1, limit) else { return nil }
      // Busy until it is closed: nobody may open it again before.
      let oldest = state.order.removeFirst()
      state.busy.insert(oldest)
      return state.idle.removeValue(forKey: oldest)
    }
  }

  /// All idle uploads, which are forgotten.
  func removeAll() async -> [ActiveUpload] {
    state.withLock { state in
      defer {
        state.idle = [:]
        state.order = []
      }
      return Array(state.idle.values)
    }
  }
}
