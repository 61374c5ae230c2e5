import Foundation
import VestaBytes
import VestaConcurrency
import VestaCore
import VestaFiles
import VestaServiceInterop
import VestaStorageBackend

/// Performs what an ``UploadMachine`` decides, attempt after attempt.
final class UploadRunner: TransferWork {
  /// The content and the target of an upload.
  struct Order: Sendable {
    let location: StorageLocation
    let metadata: StorageMetadata
    let chunkLength: Int
    let retrySeconds: Double
    /// The book that keeps the session, for files.
    let book: UploadSessionBook?
    let path: String?
  }

  private struct State {
    /// A sequence, which stays open between attempts.
    ///
    /// A file is opened by each attempt, so that a paused upload holds none, and has to be the file of the first one.
    var source: (any UploadSource)?
    var file: FileSource.Version?
    var session: UploadID?
    /// The checksum of the source's bytes up to an offset.
    var checksum = CRC32C()
    var hashed: Int64 = 0
    /// The same before the last chunk, which may not have arrived.
    var previous: (checksum: CRC32C, hashed: Int64) = (CRC32C(), 0)
    /// Whether the book's entry for this file and object is this upload's.
    var isClaimant = false
    /// Whether the session was begun by an earlier process.
    var isContinued = false
    /// Whether the session was finished before this upload asked: by a process that has ended since.
    var wasFinished = false
    var isOver = false

    /// Returns to the checksum of the first bytes; `false` when it is not known.
    mutating func rewind(to length: Int64) -> Bool {
      if previous.hashed == length { (checksum, hashed) = previous }
      return hashed == length
    }
  }

  let order: Order
  private let caller: StorageCaller
  private let open: @Sendable () throws -> any UploadSource
  private let state = Locked(State())
  private let objectName: ObjectName

  init(_ order: Order, caller: StorageCaller, open: @escaping @Sendable () throws -> any UploadSource) {
    self.order = order
    self.caller = caller
    self.open = open
    objectName = ObjectName(bucket: order.location.bucket, name: order.location.path)
    // Claimed before the upload runs: another one of the same file to the same object must not take the note.
    if let path = order.path, let book = order.book {
      let isClaimant = book.claim(UploadSessionBook.key(order.location, path))
      state.withLock { $0.isClaimant = isClaimant }
    }
  }

  func run(_ report: TransferReport) async throws -> StorageMetadata? {
    guard !objectName.name.isEmpty else { throw rootIsNoObject }
    let source = try openSource()
    defer { if source.isRepeatable { source.close() } }
    var machine = UploadMachine(
      isSingleCall: source.size.map { $0 <= Int64(caller.tuning.singleCallLength) } ?? false,
      isRepeatable: source.isRepeatable, restarts: caller.tuning.restarts,
      firstRetry: caller.tuning.firstRetry, retrySeconds: order.retrySeconds)
    var notice = RetryNotice(.upload, of: objectName)
    var action = machine.begin(hasSession: session(for: source) != nil)
    while true {
      if case .succeed(let object) = action { return succeeded(object, report) }
      if case .fail(let error) = action { throw error }
      // An attempt that was stopped ends here, whatever the error says.
      try Task.checkCancellation()
      do {
        action = try await perform(action, source, &machine, report)
      } catch {
        try Task.checkCancellation()
        action = machine.failed(error, jitter: caller.random())
        if case .wait = action { notice.give(after: error) }
      }
    }
  }

  func end(_ ending: TransferEnding) async {
    let (source, session, isClaimant, isContinued) = state.withLock { state in
      defer {
        state.source = nil
        state.isClaimant = false
        state.isOver = true
      }
      return (state.source, state.isOver ? nil : state.session.take(), state.isClaimant, state.isContinued)
    }
    source?.close()
    let isKept = isClaimant && UploadEnd.keepsNote(ending, isContinued: isContinued)
    if isClaimant, let key = bookKey { order.book?.release(key, isKept ? nil : session) }
    guard ending != .succeeded, !isKept, let session else { return }
    // The service frees the session by itself when this does not arrive.
    do {
      try await caller.attempt { try await $0.cancelUpload(session, context: $1) }
    } catch {
      log.debug("I-STR000004", "The cancellation of an upload did not reach the service: \(error)")
    }
  }

  // MARK: Steps

  private func perform(
    _ action: UploadMachine.Action, _ source: any UploadSource, _ machine: inout UploadMachine, _ report: TransferReport
  ) async throws -> UploadMachine.Action {
    switch action {
    case .putWhole: return machine.finished(try await putWhole(source))
    case .start:
      try await start(source)
      return machine.started()
    case .query: return machine.queried(try await query())
    case .verify(let received, let crc32c): return try await verify(received, crc32c, source, &machine, report)
    case .send(let offset): return try await send(offset, source, &machine, report)
    case .finalize: return machine.finished(try await finalize(source))
    case .wait(let seconds):
      try await report.place.outside { try await caller.clock.sleep(for: .seconds(seconds)) }
      return machine.waited()
    case .succeed, .fail: return action
    }
  }

  private func putWhole(_ source: any UploadSource) async throws -> StorageObject {
    let content = try await source.read(at: 0, length: caller.tuning.singleCallLength)
    var checksum = CRC32C()
    checksum.update(content)
    try await checkUnchanged(source, size: Int64(content.count), checksum: checksum.value)
    var request = request(source)
    request.expected.crc32c = checksum.value
    let checked = request
    return try await caller.attempt { try await $0.putObject(checked, content: content, context: $1) }
  }

  private func start(_ source: any UploadSource) async throws {
    let request = request(source)
    let id = try await caller.attempt { try await $0.startUpload(request, context: $1) }
    state.withLock { state in
      state.session = id
      state.checksum = CRC32C()
      state.hashed = 0
      state.previous = (CRC32C(), 0)
      (state.wasFinished, state.isContinued) = (false, false)
    }
    if let file = source as? FileSource, let path = order.path, state.withLock({ $0.isClaimant }) {
      let entry = UploadSessionBook.Entry(
        session: id.rawValue, location: order.location, path: path, identity: file.identity, metadata: order.metadata)
      order.book?.remember(entry)
    }
  }

  private func query() async throws -> UploadStatus {
    let session = try sessionID()
    let status = try await caller.attempt { try await $0.uploadStatus(session, context: $1) }
    state.withLock { $0.wasFinished = status.state == .final && $0.hashed == 0 }
    return status
  }

  private func verify(
    _ received: Int64, _ crc32c: UInt32?, _ source: any UploadSource, _ machine: inout UploadMachine,
    _ report: TransferReport
  ) async throws -> UploadMachine.Action {
    let own = try await checksum(of: received, in: source)
    // A sequence that was not read so far cannot be positioned, whatever the service says.
    let isSame = own != nil && (crc32c == nil || own == crc32c)
    let next = machine.verified(isSame: isSame)
    if isSame { report.progressed(received, source.size ?? -1) }
    return next
  }

  private func send(
    _ offset: Int64, _ source: any UploadSource, _ machine: inout UploadMachine, _ report: TransferReport
  ) async throws -> UploadMachine.Action {
    // A sequence may take any time: others transfer in the meantime.
    let bytes =
      source.isRepeatable
      ? try await source.read(at: offset, length: order.chunkLength)
      : try await report.place.outside { try await source.read(at: offset, length: order.chunkLength) }
    guard !bytes.isEmpty else { return machine.exhausted() }
    advanceChecksum(over: bytes, at: offset)
    let session = try sessionID()
    let status = try await caller.attempt {
      try await $0.appendToUpload(session, offset: offset, bytes: bytes, context: $1)
    }
    report.progressed(status.received, source.size ?? -1)
    let isLast = source.size.map { status.received >= $0 } ?? (bytes.count < order.chunkLength)
    return machine.acknowledged(received: status.received, isLast: isLast)
  }

  private func finalize(_ source: any UploadSource) async throws -> StorageObject {
    let (hashed, checksum) = state.withLock { ($0.hashed, $0.checksum.value) }
    if hashed > 0 { try await checkUnchanged(source, size: hashed, checksum: checksum) }
    let expected = state.withLock { state in
      // The bytes of a session that another process has finished were not hashed here.
      state.hashed == 0 && source.size != 0
        ? ContentDigest(size: source.size) : ContentDigest(size: state.hashed, crc32c: state.checksum.value)
    }
    let session = try sessionID()
    let object = try await caller.attempt { try await $0.finalizeUpload(session, expected: expected, context: $1) }
    if state.withLock({ $0.wasFinished }) { try await checkCurrent(object) }
    return object
  }

  /// A session that another process has finished counts only while its object is the current one.
  private func checkCurrent(_ object: StorageObject) async throws {
    do {
      let current = Preconditions(ifGenerationMatch: object.generation)
      _ = try await caller.attempt { try await $0.getObject(objectName, preconditions: current, context: $1) }
    } catch let error as StorageServiceError where error.code == .notFound || error.reason == .precondition {
      throw StorageServiceError(
        .notFound, "The upload was finished earlier, and its object was replaced or deleted since. Upload again.",
        reason: .uploadGone)
    }
  }

  /// The object is there: the session is forgotten before this is reported, as the process may end then.
  private func succeeded(_ object: StorageObject, _ report: TransferReport) -> StorageMetadata {
    let (session, isClaimant) = state.withLock { ($0.session, $0.isClaimant) }
    if isClaimant, let key = bookKey { order.book?.forget(key, session) }
    report.progressed(object.size, object.size)
    return StorageMetadata(object)
  }

  /// Checks at the end that the source is what was sent.
  ///
  /// A program can change a file and set the time of the change back, but not the time at which its status changed:
  /// then the file is read again.
  private func checkUnchanged(_ source: any UploadSource, size: Int64, checksum: UInt32) async throws {
    guard let file = source as? FileSource else { return }
    let opened = state.withLock { $0.file }
    guard try file.isTouched(since: opened) else { return }
    guard size == file.identity.size, try await read(size, of: file).value == checksum else { throw file.changed }
  }

  // MARK: Shared by the attempts

  private func openSource() throws -> any UploadSource {
    if let source = state.withLock({ $0.source }) { return source }
    let source = try open()
    guard let file = source as? FileSource else {
      if !source.isRepeatable { state.withLock { $0.source = source } }
      return source
    }
    let first = state.withLock { state in
      if state.file == nil { state.file = file.version }
      return state.file
    }
    guard first?.identity == file.identity else {
      file.close()
      throw file.changed
    }
    return source
  }

  private var bookKey: String? { order.path.map { UploadSessionBook.key(order.location, $0) } }

  private func session(for source: any UploadSource) -> UploadID? {
    if let session = state.withLock({ $0.session }) { return session }
    guard let file = source as? FileSource, let path = order.path, let book = order.book,
      state.withLock({ $0.isClaimant })
    else { return nil }
    let wanted = UploadSessionBook.Entry(
      session: "", location: order.location, path: path, identity: file.identity, metadata: order.metadata)
    guard let kept = book.session(like: wanted) else { return nil }
    state.withLock { ($0.session, $0.isContinued) = (kept, true) }
    return kept
  }

  private func sessionID() throws -> UploadID {
    guard let session = state.withLock({ $0.session }) else {
      throw StorageServiceError(.notFound, "The upload has no session yet.", reason: .uploadGone)
    }
    return session
  }

  private func request(_ source: any UploadSource) -> UploadRequest {
    UploadRequest(
      object: objectName, metadata: order.metadata.forService, size: source.size, isContinuable: order.path != nil)
  }

  /// Extends the checksum by a chunk that follows what was hashed; a chunk that is sent again changes nothing.
  private func advanceChecksum(over bytes: [UInt8], at offset: Int64) {
    state.withLock { state in
      guard offset == state.hashed else { return }
      state.previous = (state.checksum, state.hashed)
      state.checksum.update(bytes)
      state.hashed += Int64(bytes.count)
    }
  }

  /// The checksum of the first bytes, read again unless it is known.
  private func checksum(of length: Int64, in source: any UploadSource) async throws -> UInt32? {
    let known = state.withLock { $0.rewind(to: length) ? $0.checksum.value : nil }
    if let known { return known }
    guard source.isRepeatable else { return nil }
    guard length <= source.size ?? .max else { return nil }
    let checksum = try await read(length, of: source)
    state.withLock { state in
      state.checksum = checksum
      state.hashed = length
    }
    return checksum.value
  }

  /// The checksum of the first bytes as they are now.
  private func read(_ length: Int64, of source: any UploadSource) async throws -> CRC32C {
    var checksum = CRC32C()
    var offset: Int64 = 0
    var pieces = 0
    while offset < length {
      try Task.checkCancellation()
      let bytes = try await source.read(at: offset, length: Int(min(Int64(order.chunkLength), length - offset)))
      guard !bytes.isEmpty else { break }
      checksum.update(bytes)
      offset += Int64(bytes.count)
      pieces += 1
      if pieces.isMultiple(of: caller.tuning.piecesBetweenYields) { await Task.yield() }
    }
    return checksum
  }

  private var rootIsNoObject: StorageError {
    .invalidArgument(message: "The root of a bucket cannot hold content. Use child(_:) to name an object.")
  }
}

private let log = Logger(service: "VestaStorage")
