import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel

/// Reads of single documents of a remote backend.
///
/// A listener for one event costs a target, a view, and two requests to the watch stream. A document that the stream
/// does not follow is read by one call, while the stream shows that the backend can be reached. The cache takes what
/// was read. The end of the client, another user, and a disabled network end the call, and a listener is used then.
///
/// Worked example: `rooms/a` is read. There is no stream, so a listener is used: it opens the stream, and falls back to
/// the cache when the client is offline. `rooms/b` is read: the stream is open and has answered, so one call reads the
/// document. The call fails: a listener is used, which has the error or the answer of the cache.
extension SyncClient {
  /// The document as the backend has it now, with the pending writes on top.
  ///
  /// - Returns: `nil` where a listener must be used.
  func readDocument(_ path: ResourcePath) async throws -> CachedDocument? {
    guard options.link == .remote, canBeRead(path) else { return nil }
    let direct = DirectReads(calls: calls, attempts: options.tuning.readAttempts, state: state)
    let received = Locked<CachedDocument?>(nil)
    do {
      let shown = try await documentReads.run(on: streams.responseExecutor) { [self] in
        try await direct.document(path, pending) { document in received.withLock { $0 = document } }
      }
      if let document = received.withLock({ $0 }) { run(.documents([path])) { $0.core.take(read: document) } }
      return shown
    } catch {
      return nil
    }
  }

  private func canBeRead(_ path: ResourcePath) -> Bool {
    state.withLock { state in
      !state.isShutDown && state.isNetworkEnabled && state.machine(for: .nothing)?.watch.canBeRead(path) == true
    }
  }
}

/// The reads of single documents under way, for events after which a listener must be used.
final class DocumentReads: Sendable {
  private struct State {
    var tasks: [Int: Task<CachedDocument, any Error>] = [:]
    var lastNumber = 0
    var isClosed = false
  }

  private let state = Locked(State())

  /// Runs a read, where the responses of the backend arrive.
  ///
  /// - Throws: The error of the read; `CancellationError` after `cancelAll()`.
  func run(
    on executor: (any TaskExecutor)?, _ read: @escaping @Sendable () async throws -> CachedDocument
  ) async throws -> CachedDocument {
    let task = Task(executorPreference: executor) { try await read() }
    let (number, isClosed) = state.withLock { state in
      state.lastNumber += 1
      state.tasks[state.lastNumber] = task
      return (state.lastNumber, state.isClosed)
    }
    if isClosed { task.cancel() }
    defer { _ = state.withLock { $0.tasks.removeValue(forKey: number) } }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }

  /// Ends all reads.
  func cancelAll() {
    let tasks = state.withLock { Array($0.tasks.values) }
    for task in tasks { task.cancel() }
  }

  /// Ends all reads, also later ones.
  func close() {
    state.withLock { $0.isClosed = true }
    cancelAll()
  }
}
