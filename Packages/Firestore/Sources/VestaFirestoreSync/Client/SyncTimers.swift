import VestaConcurrency

/// The timers of a client.
///
/// Most of them never fire: the idle timer of a stream starts with the end of the last listener, and is cancelled by
/// the next one. So a timer that is cancelled or put off keeps its call of the clock, which looks at the timer again
/// at that time. Starting and cancelling then cost a lock each, and neither a task nor a thread.
///
/// Worked example: at 0 s the idle timer starts for 60 s, and the clock is asked for a call at 60 s. At 10 s the timer
/// is cancelled, at 20 s it starts again, for 80 s: the clock is not asked. The call at 60 s finds the timer due at
/// 80 s, and asks the clock for a call in 20 s.
final class SyncTimers: Sendable {
  /// A call that the clock was asked for.
  private struct Call {
    let number: Int
    /// The time it was asked for.
    let time: Double
    var cancel: @Sendable () -> Void = {}
  }

  private struct Entry {
    /// When the timer fires; `nil` while it does not run.
    var due: Double?
    var call: Call?
  }

  private struct State {
    var entries: [TimerName: Entry] = [:]
    var lastNumber = 0
    var isOver = false

    /// Notes a call of the clock; known before it can happen.
    mutating func plan(_ name: TimerName, at time: Double) -> Int {
      lastNumber += 1
      entries[name, default: Entry()].call = Call(number: lastNumber, time: time)
      return lastNumber
    }
  }

  private let clock: any SyncClock
  private let state = Locked(State())

  init(_ clock: any SyncClock) { self.clock = clock }

  /// Starts a timer, in place of the one with the same name.
  ///
  /// - Parameter fire: The action of every timer with this name.
  func start(_ name: TimerName, seconds: Double, fire: @escaping @Sendable () -> Void) {
    let due = clock.monotonicSeconds + seconds
    let (number, old) = state.withLock { state -> (Int?, Call?) in
      if state.isOver { return (nil, nil) }
      let old = state.entries[name]?.call
      state.entries[name, default: Entry()].due = due
      if let old, old.time <= due { return (nil, nil) }
      return (state.plan(name, at: due), old)
    }
    old?.cancel()
    if let number { schedule(name, number, seconds: seconds, fire) }
  }

  /// Cancels a timer.
  func cancel(_ name: TimerName) { state.withLock { $0.entries[name]?.due = nil } }

  /// Cancels all timers for good.
  func end() {
    let calls = state.withLock { state in
      defer { (state.entries, state.isOver) = ([:], true) }
      return state.entries.values.compactMap(\.call)
    }
    for call in calls { call.cancel() }
  }

  private func schedule(_ name: TimerName, _ number: Int, seconds: Double, _ fire: @escaping @Sendable () -> Void) {
    let cancel = clock.schedule(seconds: seconds) { [weak self] in self?.called(name, number, fire) }
    let isWaiting = state.withLock { state in
      guard state.entries[name]?.call?.number == number else { return false }
      state.entries[name]?.call?.cancel = cancel
      return true
    }
    if !isWaiting { cancel() }
  }

  /// The clock has called.
  private func called(_ name: TimerName, _ number: Int, _ fire: @escaping @Sendable () -> Void) {
    enum Next { case nothing, fire, wait(number: Int, seconds: Double) }
    let now = clock.monotonicSeconds
    let next = state.withLock { state -> Next in
      guard let entry = state.entries[name], let call = entry.call, call.number == number else { return .nothing }
      state.entries[name]?.call = nil
      guard let due = entry.due else { return .nothing }
      // The clock that calls and the clock that tells the time need not agree.
      let rest = due - max(now, call.time)
      if rest > 0 { return .wait(number: state.plan(name, at: due), seconds: rest) }
      state.entries[name]?.due = nil
      return .fire
    }
    switch next {
    case .nothing: break
    case .fire: fire()
    case .wait(let number, let seconds): schedule(name, number, seconds: seconds, fire)
    }
  }
}
