import VestaBytes
import VestaConcurrency
import VestaCryptoInterop
import VestaServiceInterop
import VestaStorageBackend

/// An upload whose blob is open: its written bytes, and its digests so far.
///
/// A caller that holds it through ``ActiveUploads`` has exclusive access. Two things run concurrently with its calls:
/// the digest of the last chunk, which takes longer than writing it, and the checkpoint, which waits for the disk. Each
/// is awaited before the next one of its kind begins, and both before the upload ends, so one chunk more is in memory
/// at most. They run on threads of the shared pool: a digest computes for long, and an upload must not wait until
/// computing tasks of the program have left the few threads of all tasks.
final class ActiveUpload: Sendable {
  struct Progress: Sendable {
    var size: Int64
    var checksum: CRC32C
    var checkpoint: Int64
    /// The blob was sealed before a crash: it takes no more bytes.
    var isSealed = false
  }

  private struct State {
    var progress: Progress
    var digest: (any DigestStream)?
    var hashing: Task<Void, any Error>?
    /// When the store was last asked who has the upload.
    var renewed = ContinuousClock.now
    var saving: Task<Void, any Error>?
  }

  let id: UploadID
  let blob: BlobID
  /// The time at which the session ends, in microseconds since 1970.
  let expires: Int64
  private let writer: (any BlobWriter)?
  private let digestLimit: Int64
  private let state: Locked<State>

  /// An open upload.
  ///
  /// - Parameters:
  ///   - id: The session.
  ///   - blob: Its blob.
  ///   - expires: The time at which the session ends.
  ///   - writer: Writes the blob; `nil` when it is sealed.
  ///   - digest: The MD5 of what is there; `nil` for none.
  ///   - digestLimit: Content of more bytes has no MD5.
  ///   - progress: The present content.
  init(
    id: UploadID, blob: BlobID, expires: Int64, writer: (any BlobWriter)?, digest: (any DigestStream)?,
    digestLimit: Int64, progress: Progress
  ) {
    self.id = id
    self.blob = blob
    self.expires = expires
    self.writer = writer
    self.digestLimit = digestLimit
    state = Locked(State(progress: progress, digest: digest))
  }

  var progress: Progress { state.withLock { $0.progress } }

  /// Whether half of the time has passed for which this engine has the upload.
  func isRenewalDue(_ ownership: Int64) -> Bool {
    state.withLock { ContinuousClock.now - $0.renewed > .microseconds(ownership / 2) }
  }

  func renewed() { state.withLock { $0.renewed = .now } }

  /// Appends bytes; their digest is computed while the next ones are fetched.
  func append(_ bytes: [UInt8]) async throws {
    guard let writer else {
      throw StorageServiceError(.failedPrecondition, "The upload is complete. Finalize it.")
    }
    try await hash(bytes)
    try await writer.append(bytes)
    state.withLock { state in
      state.progress.checksum.update(bytes)
      state.progress.size += Int64(bytes.count)
    }
  }

  private func hash(_ bytes: [UInt8]) async throws {
    try await state.withLock({ $0.hashing.take() })?.value
    state.withLock { state in
      if state.progress.size + Int64(bytes.count) > digestLimit { state.digest = nil }
      guard let digest = state.digest else { return }
      state.hashing = Task(executorPreference: BlockingPool.shared) { try digest.update(bytes) }
    }
  }

  /// Makes the received content durable, and then notes its size; concurrently with the next calls.
  ///
  /// - Parameter note: Notes a progress.
  /// - Throws: The failure of the checkpoint before this one.
  func startCheckpoint(_ note: @escaping @Sendable (Progress) async throws -> Void) async throws {
    try await finishCheckpoint()
    state.withLock { state in
      let progress = state.progress
      state.progress.checkpoint = progress.size
      state.saving = Task(executorPreference: BlockingPool.shared) { [writer] in
        try await writer?.sync()
        try await note(progress)
      }
    }
  }

  /// Waits until the last checkpoint is there.
  func finishCheckpoint() async throws { try await state.withLock({ $0.saving.take() })?.value }

  /// Seals the blob.
  ///
  /// - Returns: The content as it is now.
  func seal() async throws -> ReadyContent {
    try await finishCheckpoint()
    if !progress.isSealed { try await writer?.seal() }
    try await state.withLock({ $0.hashing.take() })?.value
    let (progress, digest) = state.withLock { ($0.progress, $0.digest) }
    return ReadyContent(
      blob: blob, inline: nil, size: progress.size, crc32c: progress.checksum.value, md5: try digest?.finish())
  }

  /// Ends the upload here; it can be opened again.
  func close() async {
    let (hashing, saving) = state.withLock { ($0.hashing.take(), $0.saving.take()) }
    _ = await hashing?.result
    // The file must not be closed under a sync.
    _ = await saving?.result
    writer?.close()
  }
}

/// The uploads that are open, each used by one call at a time; the others wait in the order of their arrival.
///
/// A client whose call was cut off asks again while the service is still at work on that call: it waits, and
/// then gets the current state.
final class ActiveUploads: Sendable {
  private struct State {
    var idle: [UploadID: ActiveUpload] = [:]
    var order: [UploadID] = []
    var busy: Set<UploadID> = []
    var waiting: [UploadID: [Turn<ActiveUpload?>]] = [:]

    /// Takes an upload; `nil` when another call has it.
    mutating func take(_ id: UploadID) -> ActiveUpload?? {
      guard busy.insert(id).inserted else { return nil }
      order.removeAll { $0 == id }
      return .some(idle.removeValue(forKey: id))
    }

    /// The call that waits for longest, and has not left.
    mutating func next(for id: UploadID) -> Turn<ActiveUpload?>.Continuation? {
      while let turn = waiting[id]?.first {
        waiting[id]?.removeFirst()
        if waiting[id]?.isEmpty ?? false { waiting[id] = nil }
        if let next = turn.begin() { return next }
      }
      return nil
    }
  }

  private let state = Locked(State())

  /// Takes an upload for a call, when the calls before it have given it back.
  ///
  /// - Parameters:
  ///   - id: The upload.
  ///   - limit: How many calls may wait.
  /// - Returns: The open upload; `nil` when it has to be opened.
  /// - Throws: `aborted` when too many calls wait for it.
  func take(_ id: UploadID, waiting limit: Int) async throws -> ActiveUpload? {
    if let taken = state.withLock({ $0.take(id) }) { return taken }
    return try await Turn<ActiveUpload?>().wait { turn in
      let taken = state.withLock { state -> Result<ActiveUpload?, StorageServiceError>? in
        if let taken = state.take(id) { return .success(taken) }
        guard state.waiting[id]?.count ?? 0 < limit else { return .failure(Self.crowded) }
        state.waiting[id, default: []].append(turn)
        return nil
      }
      guard let taken else { return }
      if let continuation = turn.begin() {
        continuation.resume(with: taken.mapError { $0 })
      } else if case .success(let upload) = taken {
        _ = put(id, upload, limit: .max)
      }
    } onCancel: { [state] turn in
      state.withLock { state in
        state.waiting[id]?.removeAll { $0 === turn }
        if state.waiting[id]?.isEmpty ?? false { state.waiting[id] = nil }
      }
    }
  }

  /// Gives an upload back, to the call that waits for it if there is one.
  ///
  /// - Parameters:
  ///   - id: The upload.
  ///   - upload: The open upload; `nil` when it is no longer open.
  ///   - limit: How many uploads stay open.
  /// - Returns: The upload that was idle for longest, when there are too many: for the caller to close and to give
  ///   back.
  func put(_ id: UploadID, _ upload: ActiveUpload?, limit: Int) -> ActiveUpload? {
    let (next, crowdedOut) = state.withLock { state -> (Turn<ActiveUpload?>.Continuation?, ActiveUpload?) in
      if let next = state.next(for: id) { return (next, nil) }
      state.busy.remove(id)
      guard let upload else { return (nil, nil) }
      state.idle[id] = upload
      state.order.append(id)
      guard state.order.count > max(1, limit) else { return (nil, nil) }
      // Busy until it is closed: no caller may open it again before.
      let oldest = state.order.removeFirst()
      state.busy.insert(oldest)
      return (nil, state.idle.removeValue(forKey: oldest))
    }
    next?.resume(returning: upload)
    return crowdedOut
  }

  /// How many uploads are open or in use, for tests.
  var count: Int { state.withLock { $0.idle.count + $0.busy.count } }

  /// How many calls wait, for tests.
  var waitingCount: Int { state.withLock { $0.waiting.values.reduce(0) { $0 + $1.count } } }

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

  private static let crowded = StorageServiceError(
    .aborted, "Too many calls wait for this upload. Ask for its status and continue there.")
}
