import VestaConcurrency

/// The timers of a client or an engine, by name, on its clock.
///
/// Most timers never fire: the idle timer of a stream starts with the end of the last listener, and is cancelled by the
/// next one. So a timer that is cancelled or put off keeps its call of the clock, which looks at the timer again when
/// it arrives. Starting and cancelling then cost a lock each, and neither a task nor a thread.
///
/// Worked example: at 0 s the timer starts for 60 s, and the clock is asked for a call at 60 s. At 10 s the timer is
/// cancelled, at 20 s it starts again, for 80 s: the clock is not asked. The call at 60 s finds the timer due at 80 s,
/// and asks the clock for a call in 20 s.
///
/// ```swift
/// enum Name { case idle, health }
/// let timers = ServiceTimers<Name>(clock)
/// timers.start(.idle, after: .seconds(60)) { close() }
/// timers.cancel(.idle)
/// ```
public final class ServiceTimers<Name: Hashable & Sendable>: Sendable {
  private typealias Work = @Sendable () -> Void

  /// A call that the clock was asked for.
  private struct Call {
    let number: Int
    /// The time it was asked for.
    let time: Int64
    var registration: ListenerRegistration?
  }

  private struct Entry {
    /// When the timer fires; `nil` while it does not run.
    var due: Int64?
    var work: Work?
    var call: Call?
  }

  /// The consequence of a call of the clock.
  private enum Next {
    case nothing
    case fire(Work?)
    case wait(number: Int, Duration)
  }

  private struct State {
    var entries: [Name: Entry] = [:]
    var lastNumber = 0
    var isOver = false

    /// Notes a call of the clock; known before it can arrive.
    mutating func plan(_ name: Name, at time: Int64) -> Int {
      lastNumber += 1
      entries[name, default: Entry()].call = Call(number: lastNumber, time: time)
      return lastNumber
    }
  }

  private let clock: ServiceClock
  private let state = Locked(State())

  /// Timers that do not run yet.
  ///
  /// - Parameter clock: Calls when a timer is due.
  public init(_ clock: ServiceClock) { self.clock = clock }

  deinit { end() }

  /// Starts a timer, in place of the one with the same name.
  ///
  /// - Parameters:
  ///   - name: The name of the timer.
  ///   - delay: The time from now.
  ///   - work: Called once, on any thread, unless the timer was replaced or cancelled.
  public func start(_ name: Name, after delay: Duration, _ work: @escaping @Sendable () -> Void) {
    let (due, overflows) = clock.now().addingReportingOverflow(max(0, delay.microseconds))
    start(name, at: overflows ? .max : due, work)
  }

  /// Starts a timer, in place of the one with the same name.
  ///
  /// - Parameters:
  ///   - name: The name of the timer.
  ///   - due: The time, in microseconds since 1970.
  ///   - keepsEarlier: Whether an earlier timer with the name stays as it is.
  ///   - work: Called once at or after the time, on any thread, unless the timer was replaced or cancelled.
  public func start(
    _ name: Name, at due: Int64, keepsEarlier: Bool = false, _ work: @escaping @Sendable () -> Void
  ) {
    let (number, superseded, replaced) = state.withLock { state -> (Int?, Call?, Work?) in
      if state.isOver { return (nil, nil, nil) }
      let entry = state.entries[name]
      if keepsEarlier, let earlier = entry?.due, earlier <= due { return (nil, nil, nil) }
      state.entries[name, default: Entry()].due = due
      state.entries[name, default: Entry()].work = work
      if let call = entry?.call, call.time <= due { return (nil, nil, entry?.work) }
      return (state.plan(name, at: due), entry?.call, entry?.work)
    }
    withExtendedLifetime(replaced) {}
    superseded?.registration?.cancel()
    if let number { schedule(name, number, after: .microseconds(max(0, due - clock.now()))) }
  }

  /// Cancels a timer.
  ///
  /// - Parameter name: The name of the timer.
  public func cancel(_ name: Name) {
    let work = state.withLock { state -> Work? in
      state.entries[name]?.due = nil
      return state.entries[name]?.work.take()
    }
    withExtendedLifetime(work) {}
  }

  /// Whether a timer runs.
  ///
  /// - Parameter name: The name of the timer.
  public func isRunning(_ name: Name) -> Bool { state.withLock { $0.entries[name]?.due != nil } }

  /// The number of names that are kept, cancelled timers included.
  public var count: Int { state.withLock { $0.entries.count } }

  /// Cancels all timers for good.
  public func end() {
    let entries = state.withLock { state in
      defer { (state.entries, state.isOver) = ([:], true) }
      return Array(state.entries.values)
    }
    for entry in entries { entry.call?.registration?.cancel() }
  }

  private func schedule(_ name: Name, _ number: Int, after delay: Duration) {
    let registration = clock.schedule(after: delay) { [weak self] in self?.called(name, number) }
    let isWaiting = state.withLock { state in
      guard state.entries[name]?.call?.number == number else { return false }
      state.entries[name]?.call?.registration = registration
      return true
    }
    if !isWaiting { registration.cancel() }
  }

  /// The clock has called.
  private func called(_ name: Name, _ number: Int) {
    let now = clock.now()
    let next = state.withLock { state -> Next in
      guard let entry = state.entries[name], let call = entry.call, call.number == number else { return .nothing }
      guard let due = entry.due else {
        state.entries[name] = nil
        return .nothing
      }
      // The call has taken its time, also where the clock was set back or calls early.
      let time = max(now, call.time)
      if due > time { return .wait(number: state.plan(name, at: due), .microseconds(due - time)) }
      state.entries[name] = nil
      return .fire(entry.work)
    }
    switch next {
    case .nothing: break
    case .fire(let work): work?()
    case .wait(let number, let delay): schedule(name, number, after: delay)
    }
  }
}
