import VestaConcurrency
import VestaServiceInterop

/// The one timer of something that waits for the earliest of many times.
///
/// A timer may fire on another thread before the call that sets it has returned. It is known here before it is set, so
/// it is never taken for one that is still to come.
final class TimerSlot: Sendable {
  private struct State {
    /// The number of the last timer; an older one that fires does nothing.
    var number = 0
    /// The time of the timer that is set; `nil` for none.
    var time: Int64?
    var registration: ListenerRegistration?
    var isClosed = false
  }

  private let clock: ServiceClock
  private let state = Locked(State())

  init(_ clock: ServiceClock) { self.clock = clock }

  deinit { close() }

  /// Sets the timer, in place of the one that is set.
  ///
  /// - Parameters:
  ///   - time: Microseconds since 1970.
  ///   - keepsEarlier: Whether an earlier timer stays, and this one is not set.
  ///   - work: Called once at or after the time, on any thread, unless the timer was replaced.
  func set(at time: Int64, keepsEarlier: Bool = false, _ work: @escaping @Sendable () -> Void) {
    let (number, replaced) = state.withLock { state -> (Int?, ListenerRegistration?) in
      if state.isClosed || (keepsEarlier && state.time.map { $0 <= time } ?? false) { return (nil, nil) }
      state.number += 1
      state.time = time
      return (state.number, state.registration.take())
    }
    replaced?.cancel()
    guard let number else { return }
    let registration = clock.schedule(at: time) { [weak self] in
      if self?.fires(number) ?? false { work() }
    }
    let isKept = state.withLock { state in
      guard state.number == number, state.time != nil else { return false }
      state.registration = registration
      return true
    }
    if !isKept { registration.cancel() }
  }

  /// Whether the timer that fires is the one that is set; it is not any more then.
  private func fires(_ number: Int) -> Bool {
    let (fires, registration) = state.withLock { state -> (Bool, ListenerRegistration?) in
      guard state.number == number, state.time != nil else { return (false, nil) }
      state.time = nil
      return (true, state.registration.take())
    }
    withExtendedLifetime(registration) {}
    return fires
  }

  /// Stops the timer; none is set any more.
  func close() {
    let registration = state.withLock { state in
      (state.isClosed, state.time) = (true, nil)
      return state.registration.take()
    }
    registration?.cancel()
  }
}
