import VestaConcurrency
import VestaStoreInterop

/// Receives the commits of other processes: a connection that LISTENs, and a look at the list of commits for each
/// notification, and after each time that the connection was away.
///
/// Notifications of the store's own commits are passed over: their observers are notified before the write returns, and
/// of the commits of others before them too.
final class CommitListener: Sendable {
  private struct State: Sendable {
    var task: Task<Void, Never>?
    var isStopped = false
  }

  private let state = Locked(State())
  private let core: StoreCore
  private let loop: PostgresLoop
  private let connector: Connector

  init(_ core: StoreCore, _ loop: PostgresLoop, _ connector: Connector) {
    self.core = core
    self.loop = loop
    self.connector = connector
  }

  /// Begins to listen, with the first observer.
  func start() {
    state.withLock { state in
      guard state.task == nil, !state.isStopped else { return }
      state.task = Task.detached { [core, loop, connector] in
        await CommitListener.listen(core, loop, connector)
      }
    }
  }

  /// Ends the listening, and waits for the end.
  func stop() async {
    let task = state.withLock { state in
      state.isStopped = true
      return state.task
    }
    task?.cancel()
    await task?.value
  }

  private static func listen(_ core: StoreCore, _ loop: PostgresLoop, _ connector: Connector) async {
    let tuning = core.schema.tuning
    var failures = 0
    while !Task.isCancelled {
      do {
        try await listenOnce(core, loop, connector) { failures = 0 }
      } catch {
        failures += 1
        try? await tuning.sleep(tuning.listenRetry.pauseWithoutJitter(after: failures))
      }
    }
  }

  /// Listens on one connection until it breaks or the task is cancelled.
  private static func listenOnce(
    _ core: StoreCore, _ loop: PostgresLoop, _ connector: Connector, onOpen: () -> Void
  ) async throws {
    let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let (sender, tuning) = (core.schema.sender, core.schema.tuning)
    let connection = try await loop.open(connector) { if $0 != sender { signal.yield() } }
    defer { connection.drop() }
    try await connection.run(core.schema.listen)
    connection.send(Schema.keepAlive)
    onOpen()
    // For commits before the channel was open; and now and then, as a dead connection does not say so.
    let ticks = Task {
      signal.yield()
      while (try? await tuning.sleep(tuning.listenInterval)) != nil { signal.yield() }
    }
    defer { ticks.cancel() }
    for await _ in signals {
      let rows = try await connection.run(core.schema.versions(after: core.reports.reported))
      core.reports.report(rows[0].rows.compactMap { $0.first.flatMap { $0 }.flatMap(Rows.integer) })
    }
  }
}
