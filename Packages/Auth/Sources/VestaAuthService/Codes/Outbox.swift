import VestaConcurrency
import VestaCore

/// Sends messages after the call that asked for them has returned, so that the call takes the same time and has the
/// same outcome whether there was a message to send or not.
///
/// The number of messages on their way is limited: beyond it a message is dropped, with an entry in the log.
final class Outbox: Sendable {
  private struct State {
    var sending: [Int: Task<Void, Never>] = [:]
    var lastNumber = 0
    var isClosed = false
  }

  private let limit: Int
  private let state = Locked(State())

  init(limit: Int = 1_000) { self.limit = limit }

  /// Sends a message in a separate task; `send` logs its failure.
  func post(_ send: @escaping @Sendable () async throws -> Void) {
    let isAccepted = state.withLock { state in
      guard !state.isClosed, state.sending.count < limit else { return false }
      state.lastNumber += 1
      let number = state.lastNumber
      state.sending[number] = Task.detached { [weak self] in
        try? await send()
        self?.state.withLock { _ = $0.sending.removeValue(forKey: number) }
      }
      return true
    }
    if !isAccepted { log.error("I-AUS000005", "A message is dropped: \(limit) others are still being sent.") }
  }

  /// Returns when everything that was posted before has been sent, or has failed.
  func drain() async {
    let tasks = state.withLock { Array($0.sending.values) }
    for task in tasks { await task.value }
  }

  /// Cancels what is being sent, and takes nothing more.
  func close() {
    let tasks = state.withLock { state in
      state.isClosed = true
      return Array(state.sending.values)
    }
    for task in tasks { task.cancel() }
  }
}

private let log = Logger(service: "VestaAuthService")
