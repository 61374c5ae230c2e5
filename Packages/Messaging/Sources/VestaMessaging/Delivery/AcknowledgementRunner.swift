import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Acknowledges messages together: while one acknowledgement is under way, the next ones are gathered.
///
/// An acknowledgement that fails, and may succeed later, is tried again: without it the service delivers only a limited
/// number of further messages.
final class AcknowledgementRunner: Sendable {
  private struct State {
    var token: String?
    var waiting: [String] = []
    var isRunning = false
    var failures = 0
    var timer: ListenerRegistration?
    var isOver = false
  }

  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let state = Locked(State())

  /// The most messages of one call.
  private static let maximumCount = 500

  init(backend: any MessagingBackend, clock: ServiceClock) {
    self.backend = backend
    self.clock = clock
  }

  func setToken(_ token: String?) { state.withLock { $0.token = token } }

  func add(_ ids: [String]) {
    let begins = state.withLock { state in
      state.waiting += ids
      guard !state.waiting.isEmpty, !state.isRunning, !state.isOver else { return false }
      state.isRunning = true
      return true
    }
    if begins { Task { await run() } }
  }

  func end() {
    let timer = state.withLock { state in
      state.isOver = true
      return state.timer.take()
    }
    timer?.cancel()
  }

  private func run() async {
    while let (token, ids) = next() {
      do {
        try await backend.acknowledge(token: token, messageIDs: ids, context: CallContext())
        state.withLock { $0.failures = 0 }
      } catch {
        // Refused ones are delivered again at the next connection, and recognised by their ids then.
        if Self.isTransient(error.code) { return runLater(ids) }
      }
    }
  }

  private func next() -> (token: String, ids: [String])? {
    state.withLock { state in
      guard !state.waiting.isEmpty, let token = state.token else {
        state.isRunning = false
        return nil
      }
      let ids = Array(state.waiting.prefix(Self.maximumCount))
      state.waiting.removeFirst(ids.count)
      return (token, ids)
    }
  }

  private static func isTransient(_ code: ServiceCode) -> Bool {
    switch code {
    case .unavailable, .deadlineExceeded, .aborted, .resourceExhausted, .internal, .cancelled, .unknown: true
    default: false
    }
  }

  /// Tries again after a pause, which doubles up to a minute.
  private func runLater(_ ids: [String]) {
    let pause = state.withLock { state in
      state.waiting = ids + state.waiting
      state.isRunning = false
      state.failures += 1
      return min(60_000, 1000 << Int64(min(state.failures - 1, 6)))
    }
    let timer = clock.schedule(after: .milliseconds(pause)) { [weak self] in self?.add([]) }
    let superseded = state.withLock { state in
      defer { state.timer = state.isOver ? nil : timer }
      return state.isOver ? timer : state.timer
    }
    superseded?.cancel()
  }
}
