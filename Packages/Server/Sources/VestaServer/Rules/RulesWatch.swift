import VestaServiceInterop

/// Has files of rules read again at intervals, until it ends.
final class RulesWatch: Sendable {
  private enum Timer { case next }

  private let rules: ServerRules
  private let interval: Duration
  private let timers: ServiceTimers<Timer>

  init(_ rules: ServerRules, every interval: Duration, clock: ServiceClock) {
    (self.rules, self.interval) = (rules, interval)
    timers = ServiceTimers(clock)
  }

  /// Starts the first interval.
  func start() {
    timers.start(.next, after: interval) { [weak self, rules] in
      Task {
        await rules.readChangedFiles()
        self?.start()
      }
    }
  }

  func end() { timers.end() }
}
