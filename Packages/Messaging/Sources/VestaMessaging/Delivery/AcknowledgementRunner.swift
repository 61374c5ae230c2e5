import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Acknowledges messages together: while one acknowledgement is under way, the next ones are gathered.
///
/// An acknowledgement that fails is tried again after a pause, which doubles; later ones wait for its
/// end. Of one that the service refuses for another reason than a passing one each half is tried by itself, so that the
/// message that is refused keeps no other one; that one is tried again after a pause too. Without their acknowledgement
/// messages keep their places among the ones that the service delivers at once.
final class AcknowledgementRunner: Sendable {
  private struct State {
    var token: String?
    var waiting: [String] = []
    /// The parts of refused acknowledgements, which are tried before `waiting`.
    var parts: [[String]] = []
    /// The messages that are refused by themselves, and how often some were in a row.
    var refused: [String] = []
    var refusals = 0
    var isRunning = false
    /// Whether a pause has not ended yet.
    var isPaused = false
    var failures = 0
    var waitsForRefused = false
    var isOver = false
  }

  /// The timers that end the pause, and that try the refused ones again.
  private enum Timer { case pause, refused }

  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let tuning: MessagingTuning
  private let timers: ServiceTimers<Timer>
  private let state = Locked(State())

  init(backend: any MessagingBackend, clock: ServiceClock, tuning: MessagingTuning = MessagingTuning()) {
    self.backend = backend
    self.clock = clock
    self.tuning = tuning
    timers = ServiceTimers(clock)
  }

  /// Sets the token of the registration; without one there is nothing to acknowledge.
  func setToken(_ token: String?) {
    state.withLock { state in
      state.token = token
      if token == nil { (state.waiting, state.parts, state.refused) = ([], [], []) }
    }
    run()
  }

  func add(_ ids: [String]) {
    guard !ids.isEmpty else { return }
    state.withLock { $0.waiting += ids }
    run()
  }

  func end() {
    state.withLock { $0.isOver = true }
    timers.end()
  }

  /// Begins to send what waits, unless that is being done, or a pause has not ended.
  private func run() {
    let begins = state.withLock { state in
      let isIdle = state.waiting.isEmpty && state.parts.isEmpty
      guard !isIdle, !state.isRunning, !state.isPaused, state.token != nil else { return false }
      state.isRunning = true
      return true
    }
    if begins { Task { await runNow() } }
  }

  private func runNow() async {
    while let (token, ids) = next() {
      do {
        let context = CallContext().limited(to: tuning.callTimeout, by: clock)
        try await backend.acknowledge(token: token, messageIDs: ids, context: context)
        state.withLock { $0.failures = 0 }
      } catch {
        // The messages of a removed registration are removed with it.
        if error.reason == .unregistered { continue }
        if error.code.isTransient { return pause(before: ids) }
        refused(ids)
      }
    }
  }

  private func next() -> (token: String, ids: [String])? {
    state.withLock { state in
      guard let token = state.token, !state.waiting.isEmpty || !state.parts.isEmpty else {
        state.isRunning = false
        if state.refused.isEmpty { state.refusals = 0 }
        return nil
      }
      if let part = state.parts.popLast() { return (token, part) }
      let ids = Array(state.waiting.prefix(max(1, tuning.acknowledgementBatch)))
      state.waiting.removeFirst(ids.count)
      return (token, ids)
    }
  }

  /// Tries each half by itself, and a message that is refused by itself again after a pause.
  private func refused(_ ids: [String]) {
    let pause = state.withLock { state -> Duration? in
      guard ids.count == 1 else {
        state.parts.append(Array(ids[(ids.count / 2)...]))
        state.parts.append(Array(ids[..<(ids.count / 2)]))
        return nil
      }
      state.refused += ids
      guard !state.waitsForRefused, !state.isOver else { return nil }
      state.waitsForRefused = true
      state.refusals += 1
      return tuning.retry.pauseWithoutJitter(after: state.refusals)
    }
    guard let pause else { return }
    schedule(.refused, after: pause) { state in
      state.waitsForRefused = false
      state.waiting = state.refused + state.waiting
      state.refused = []
    }
  }

  /// Tries again after a pause, which doubles up to a minute.
  private func pause(before part: [String]) {
    let pause = state.withLock { state -> Duration? in
      state.isRunning = false
      state.parts.append(part)
      guard !state.isOver else { return nil }
      state.isPaused = true
      state.failures += 1
      return tuning.retry.pauseWithoutJitter(after: state.failures)
    }
    if let pause { schedule(.pause, after: pause) { $0.isPaused = false } }
  }

  private func schedule(_ timer: Timer, after pause: Duration, _ end: @escaping @Sendable (inout State) -> Void) {
    timers.start(timer, after: pause) { [weak self] in
      self?.state.withLock { end(&$0) }
      self?.run()
    }
  }
}
