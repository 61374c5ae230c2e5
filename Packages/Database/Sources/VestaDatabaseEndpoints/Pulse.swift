import VestaConcurrency
import VestaServiceInterop

/// Does something from time to time, until it is ended or dropped.
final class Pulse: Sendable {
  private struct State {
    var timer: ListenerRegistration?
    var isOver = false
  }

  private let clock: ServiceClock
  private let interval: Duration
  private let work: @Sendable () -> Void
  private let state = Locked(State())

  init(_ clock: ServiceClock, every interval: Duration, _ work: @escaping @Sendable () -> Void) {
    (self.clock, self.interval, self.work) = (clock, interval, work)
  }

  deinit { end() }

  /// Begins.
  func begin() {
    let timer = clock.schedule(after: interval) { [weak self] in self?.beat() }
    let stale = state.withLock { state -> ListenerRegistration? in
      if state.isOver { return timer }
      state.timer = timer
      return nil
    }
    stale?.cancel()
  }

  /// Ends.
  func end() {
    let timer = state.withLock { state in
      state.isOver = true
      return state.timer.take()
    }
    timer?.cancel()
  }

  private func beat() {
    guard !state.withLock({ $0.isOver }) else { return }
    work()
    begin()
  }
}
