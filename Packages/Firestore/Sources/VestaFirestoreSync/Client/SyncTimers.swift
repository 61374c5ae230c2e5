import VestaFirestoreBackend

/// The timers of a client, by name, on its own clock.
typealias SyncTimers = ServiceTimers<TimerName>

extension ServiceTimers where Name == TimerName {
  /// Starts a timer, in place of the one with the same name.
  ///
  /// - Parameter fire: Called once, on any thread.
  func start(_ name: TimerName, seconds: Double, fire: @escaping @Sendable () -> Void) {
    start(name, after: .seconds(seconds), fire)
  }
}
