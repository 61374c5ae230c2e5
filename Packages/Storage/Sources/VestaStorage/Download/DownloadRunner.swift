import VestaBytes
import VestaConcurrency
import VestaStorageBackend

/// Performs what a ``DownloadMachine`` decides, attempt after attempt.
final class DownloadRunner: TransferWork {
  /// The length of one read.
  static let readLength = 1024 * 1024

  private struct State {
    var machine: DownloadMachine
    var checksum = CRC32C()
    var expected: StorageObject?
    var hasBegun = false
    /// Whether the first bytes come from an earlier process.
    var isContinued = false
  }

  private let object: ObjectName
  private let caller: StorageCaller
  private let target: any DownloadTarget
  private let state: Locked<State>

  init(
    _ location: StorageLocation, caller: StorageCaller, target: any DownloadTarget, maxSize: Int64?,
    retrySeconds: Double
  ) {
    object = ObjectName(bucket: location.bucket, name: location.path)
    self.caller = caller
    self.target = target
    state = Locked(State(machine: DownloadMachine(maxSize: maxSize, retrySeconds: retrySeconds)))
  }

  func run(_ report: TransferReport) async throws -> StorageMetadata? {
    var content: (any ObjectContent)?
    defer { content?.close() }
    try await begin()
    var action = state.withLock { $0.machine.begin() }
    while true {
      if action == .succeed {
        if try finish() { return nil }
        action = .restart
      }
      if case .fail(let error) = action { throw error }
      do {
        action = try await perform(action, &content, report)
      } catch {
        try Task.checkCancellation()
        content?.close()
        content = nil
        action = state.withLock { $0.machine.failed(error, jitter: caller.clock.jitter()) }
      }
    }
  }

  func end(isCompleted: Bool) async {
    if !isCompleted { target.discard() }
  }

  /// Asks the target, once, for what is there already.
  private func begin() async throws {
    guard !state.withLock({ $0.hasBegun }) else { return }
    let start = try await target.begin()
    state.withLock { state in
      state.hasBegun = true
      guard let start else { return }
      state.checksum = start.checksum
      state.isContinued = true
      state.machine.found(length: start.length, generation: start.generation)
    }
  }

  private func perform(
    _ action: DownloadMachine.Action, _ content: inout (any ObjectContent)?, _ report: TransferReport
  ) async throws -> DownloadMachine.Action {
    switch action {
    case .open(let offset, let generation):
      return try await open(offset, generation, &content)
    case .restart:
      try target.restart()
      return state.withLock { state in
        state.checksum = CRC32C()
        state.isContinued = false
        return state.machine.restarted()
      }
    case .read:
      guard let content else { throw StorageError.internalError(message: "The download has nothing open.") }
      return try await read(content, report)
    case .wait(let seconds):
      try await caller.clock.sleep(seconds)
      return state.withLock { $0.machine.waited() }
    case .succeed, .fail: return action
    }
  }

  private func open(
    _ offset: Int64, _ generation: Int64?, _ content: inout (any ObjectContent)?
  ) async throws -> DownloadMachine.Action {
    let request = ReadRequest(
      object: object, offset: offset, preconditions: Preconditions(ifGenerationMatch: generation))
    let download = try await caller.backend.openObject(request, context: try await caller.context())
    content?.close()
    content = download.content
    target.opened(download.object)
    return state.withLock { state in
      state.expected = download.object
      return state.machine.opened(download.object)
    }
  }

  private func read(_ content: any ObjectContent, _ report: TransferReport) async throws -> DownloadMachine.Action {
    let bytes = try await content.read(maximumLength: Self.readLength)
    try target.write(bytes)
    let (action, completed, total) = state.withLock { state in
      state.checksum.update(bytes)
      let action = state.machine.received(bytes.count)
      return (action, state.machine.completed, state.machine.total)
    }
    report.progressed(completed, total)
    return action
  }

  /// Ends the download; `false` when the bytes of an earlier process are not the object's: all must be fetched.
  private func finish() throws -> Bool {
    let (isWhole, isContinued) = state.withLock { ($0.expected?.crc32c == $0.checksum.value, $0.isContinued) }
    guard isWhole else {
      if isContinued { return false }
      throw StorageError.nonMatchingChecksum
    }
    try target.finish()
    return true
  }
}
