internal import VestaConcurrency
internal import VestaCore
internal import VestaFirestoreSync

/// The client beneath an instance: made at the first use, ended once.
extension Firestore {
  /// Whether the current task is a read that began before the instance was terminated.
  @TaskLocal static var hasBegun = false

  /// The client, started at the first use.
  ///
  /// - Throws: `failedPrecondition` after `terminate()`, or why it cannot be made.
  func client() throws -> SyncClient {
    if let running = try running() { return running }
    // Made once however many threads ask, with no lock held: making it asks other products.
    let client = try clients.instance(for: 0) { try make() }
    let isKept = state.withLock { state in
      switch state.phase {
      case .ending, .terminated: return false
      case .idle, .starting, .running: break
      }
      state.phase = .running(client)
      return true
    }
    if isKept { return client }
    Task.detached { await client.shutdown() }
    throw Self.terminatedError
  }

  private func running() throws -> SyncClient? {
    switch state.withLock({ $0.phase }) {
    case .idle, .starting: nil
    case .running(let client): client
    case .ending(let client) where Firestore.hasBegun: client
    case .ending, .terminated: throw Self.terminatedError
    }
  }

  /// Makes the client, and keeps the settings from changing from here on, unless that fails.
  private func make() throws -> SyncClient {
    let settings = state.withLock { state in
      if case .idle = state.phase { state.phase = .starting }
      return state.settings
    }
    do {
      return try source.makeClient(database: database, settings: settings, after: predecessor)
    } catch {
      state.withLock { if case .starting = $0.phase { $0.phase = .idle } }
      throw error
    }
  }

  static let terminatedError = FirestoreErrorCode(
    .failedPrecondition,
    "The client has already been terminated. Call Firestore.firestore() again for a new instance; "
      + "after the deletion of its app, configure the app first.")

  // MARK: The end

  /// Begins the end: from here on calls fail, and `Firestore.firestore()` returns a new instance.
  ///
  /// - Returns: Ends the instance: reads that have begun are answered, listeners and streams end, and what is pending
  ///   is in the cache. Returns when all of that is done, also if another call has begun it.
  func beginEnd() -> @Sendable () async -> Void {
    // Before the new instance is visible: its client waits for the end of this one.
    provider?.forget(self)
    enum Begun { case now(SyncClient?), before }
    let begun = state.withLock { state -> Begun in
      switch state.phase {
      case .ending, .terminated: return .before
      case .running(let client):
        state.phase = .ending(client)
        return .now(client)
      case .idle, .starting:
        state.phase = .terminated
        return .now(nil)
      }
    }
    switch begun {
    case .before: return { [ended] in await ended.wait() }
    case .now(let client): return { await self.finishEnd(client) }
    }
  }

  private func finishEnd(_ client: SyncClient?) async {
    await reads.close()
    state.withLock { $0.phase = .terminated }
    await client?.shutdown()
    // An instance that was hardly used may end before the one before it, whose rows the next one must find.
    await predecessor?.wait()
    ended.open()
  }

  /// Removes the cache of a client that is not running.
  func clearCache() async throws {
    let (settings, isEnding) = try state.withLock { state in
      switch state.phase {
      case .idle: return (state.settings, false)
      case .ending, .terminated: return (state.settings, true)
      case .starting, .running: throw Self.runningError
      }
    }
    if isEnding { await ended.wait() }
    if provider?.isRunning(insteadOf: self) == true { throw Self.runningError }
    await predecessor?.wait()
    try await source.clearCache(database: database, settings: settings)
  }

  private static let runningError = FirestoreErrorCode(
    .failedPrecondition, "Persistence cannot be cleared while the client is running.")

  /// Whether the client is in use.
  var isRunning: Bool {
    switch state.withLock({ $0.phase }) {
    case .starting, .running: true
    case .idle, .ending, .terminated: false
    }
  }
}
