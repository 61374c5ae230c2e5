import VestaConcurrency
import VestaServiceInterop

/// When an engine scans the messages for transports: one timer, at the earliest time that was asked for, and one scan
/// at a time.
final class PushTimer: Sendable {
  private struct State {
    var time: Int64?
    var number = 0
    var registration: ListenerRegistration?
    var isRunning = false
    var runsAgain = false
    var isOver = false
  }

  private let state = Locked(State())

  /// Sets the timer, unless it is set for an earlier time.
  func start(at time: Int64, after delay: Duration, on clock: ServiceClock, _ work: @escaping @Sendable () -> Void) {
    let (number, old) = state.withLock { state -> (Int?, ListenerRegistration?) in
      if state.isOver || state.time.map({ $0 <= time }) == true { return (nil, nil) }
      state.time = time
      state.number += 1
      return (state.number, state.registration.take())
    }
    old?.cancel()
    guard let number else { return }
    let registration = clock.schedule(after: delay) { [weak self] in
      guard let self else { return }
      let isCurrent = state.withLock { state in
        guard state.number == number, !state.isOver else { return false }
        (state.time, state.registration) = (nil, nil)
        return true
      }
      if isCurrent { work() }
    }
    let isLate = state.withLock { state in
      guard state.number == number, state.time != nil else { return true }
      state.registration = registration
      return false
    }
    if isLate { registration.cancel() }
  }

  /// The caller looks, unless another one does: that one looks again then.
  func begin() -> Bool {
    state.withLock { state in
      guard !state.isRunning, !state.isOver else {
        state.runsAgain = true
        return false
      }
      state.isRunning = true
      return true
    }
  }

  /// The caller has looked; answers whether it has to look again.
  func end(isDue: Bool) -> Bool {
    state.withLock { state in
      let again = (isDue || state.runsAgain) && !state.isOver
      (state.isRunning, state.runsAgain) = (again, false)
      return again
    }
  }

  /// Ends the timer.
  func close() {
    state.withLock { state in
      state.isOver = true
      return state.registration.take()
    }?.cancel()
  }
}
