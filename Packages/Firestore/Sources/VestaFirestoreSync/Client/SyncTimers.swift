import VestaConcurrency
import VestaFirestoreBackend

/// The timers of a client, by name, on its own clock.
typealias SyncTimers = ServiceTimers<TimerName>

extension ServiceTimers where Name == TimerName {
  /// Timers that do not run yet.
  convenience init(_ clock: any SyncClock) { self.init(clock.service) }

  /// Starts a timer, in place of the one with the same name.
  ///
  /// - Parameter fire: Called once, on any thread.
  func start(_ name: TimerName, seconds: Double, fire: @escaping @Sendable () -> Void) {
    start(name, after: .seconds(seconds), fire)
  }
}

extension SyncClock {
  /// The clock as timers take it: the time since the system started, which only grows.
  fileprivate var service: ServiceClock {
    ServiceClock(now: { Int64(monotonicSeconds * 1_000_000) }) { delay, work in
      ListenerRegistration(schedule(seconds: delay / .seconds(1), work))
    }
  }
}
