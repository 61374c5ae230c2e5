import VestaBytes
import VestaConcurrency
import VestaServiceInterop
import VestaStorageBackend

/// Performs what a ``DownloadMachine`` decides, attempt after attempt.
///
/// An attempt that was stopped takes no further step, and publishes nothing: before each step it looks at its
/// cancellation, and before the last one it asks its task; see ``TransferReport/mayPublish``.
final class DownloadRunner: TransferWork {
  private struct State {
    var machine: DownloadMachine
    var checksum = CRC32C()
    var expected: StorageObject?
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
    let machine = DownloadMachine(
      maxSize: maxSize, restarts: caller.tuning.restarts, firstRetry: caller.tuning.firstRetry,
      retrySeconds: retrySeconds)
    state = Locked(State(machine: machine))
  }

  func run(_ report: TransferReport) async throws -> StorageMetadata? {
    var content: (any ObjectContent)?
    defer { content?.close() }
    var notice = RetryNotice(.download, of: object)
    var action = state.withLock { $0.machine.begin() }
    while true {
      if action == .succeed { return nil }
      if case .fail(let error) = action { throw error }
      try Task.checkCancellation()
      do {
        action = try await perform(action, &content, report)
      } catch {
        // An attempt that was stopped ends here, whatever the error says.
        try Task.checkCancellation()
        content?.close()
        content = nil
        action = state.withLock { $0.machine.failed(error, jitter: caller.random()) }
        if case .wait = action { notice.give(after: error) }
      }
    }
  }

  func end(_ ending: TransferEnding) async {
    if ending != .succeeded { target.discard() }
  }

  private func perform(
    _ action: DownloadMachine.Action, _ content: inout (any ObjectContent)?, _ report: TransferReport
  ) async throws -> DownloadMachine.Action {
    switch action {
    case .prepare:
      let start = try await target.prepare()
      return state.withLock { $0.machine.prepared(start) }
    case .open(let offset, let generation):
      return try await open(offset, generation, &content)
    case .restart:
      try target.restart()
      return state.withLock { state in
        state.checksum = CRC32C()
        return state.machine.restarted()
      }
    case .read:
      guard let content else { throw StorageError.internalError(message: "The download has nothing open.") }
      return try await read(content, report)
    case .wait(let seconds):
      try await report.place.outside { try await caller.clock.sleep(for: .seconds(seconds)) }
      return state.withLock { $0.machine.waited() }
    case .check: return try await check()
    case .publish: return try publish(report)
    case .succeed, .fail: return action
    }
  }

  private func open(
    _ offset: Int64, _ generation: Int64?, _ content: inout (any ObjectContent)?
  ) async throws -> DownloadMachine.Action {
    let request = ReadRequest(
      object: object, offset: offset, preconditions: Preconditions(ifGenerationMatch: generation))
    let download = try await caller.attempt { try await $0.openObject(request, context: $1) }
    content?.close()
    content = download.content
    try Task.checkCancellation()
    target.opened(download.object)
    return state.withLock { state in
      state.expected = download.object
      return state.machine.opened(download.object)
    }
  }

  private func read(_ content: any ObjectContent, _ report: TransferReport) async throws -> DownloadMachine.Action {
    let bytes = try await content.read(maximumLength: caller.tuning.readLength)
    try Task.checkCancellation()
    // Written and counted in one step, so that the next attempt begins where the bytes end.
    try target.write(bytes, at: state.withLock { $0.machine.completed })
    let (action, completed, total) = state.withLock { state in
      state.checksum.update(bytes)
      let action = state.machine.received(bytes.count)
      return (action, state.machine.completed, state.machine.total)
    }
    report.progressed(completed, total)
    return action
  }

  private func check() async throws -> DownloadMachine.Action {
    let (expected, known) = state.withLock { ($0.expected, $0.machine.isOneAttempt ? $0.checksum.value : nil) }
    guard let expected else { throw StorageError.internalError(message: "The download has nothing open.") }
    let isWhole = try await target.check(expected, known: known)
    return state.withLock { $0.machine.checked(isWhole: isWhole) }
  }

  private func publish(_ report: TransferReport) throws -> DownloadMachine.Action {
    guard report.mayPublish() else { throw CancellationError() }
    try target.publish()
    return state.withLock { $0.machine.published() }
  }
}
