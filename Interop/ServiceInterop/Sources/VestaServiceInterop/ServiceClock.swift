public import VestaConcurrency

/// The time of a service: microseconds since 1970, and timers.
///
/// Times are `Int64` in microseconds since 1970 everywhere in the services; lengths of time are `Duration`. Tests use
/// the manual clock of `VestaTesting` (`ManualClock().service`, in `VestaServiceInteropFakes`).
public struct ServiceClock: Sendable {
  private let read: @Sendable () -> Int64
  private let set: @Sendable (Duration, @escaping @Sendable () -> Void) -> ListenerRegistration

  /// A clock made of its parts.
  ///
  /// - Parameters:
  ///   - now: Returns the time in microseconds since 1970.
  ///   - schedule: Calls the work once after the delay, unless the registration is cancelled before.
  public init(
    now: @escaping @Sendable () -> Int64,
    schedule: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration
  ) {
    read = now
    set = schedule
  }

  /// The clock of the machine.
  public static let system = ServiceClock(now: systemMicroseconds) { delay, work in
    let task = Task {
      try await Task.sleep(for: max(.zero, delay))
      work()
    }
    return ListenerRegistration { task.cancel() }
  }

  /// The time in microseconds since 1970.
  public func now() -> Int64 { read() }

  /// The time in milliseconds since 1970.
  public func milliseconds() -> Int64 { read() / 1_000 }

  /// The time in seconds since 1970.
  public func seconds() -> Int64 { read() / 1_000_000 }

  /// Calls `work` once, later.
  ///
  /// - Parameters:
  ///   - delay: How much later.
  ///   - work: Called on any thread.
  /// - Returns: The registration, which stops the timer.
  public func schedule(after delay: Duration, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    set(delay, work)
  }

  /// Calls `work` once, at or after a time in microseconds since 1970.
  public func schedule(at time: Int64, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    set(.microseconds(max(0, time - read())), work)
  }

  /// Suspends the task.
  ///
  /// - Throws: `CancellationError`, at once, when the task is cancelled.
  public func sleep(for delay: Duration) async throws {
    let timer = Locked<ListenerRegistration?>(nil)
    try await Turn<Void>().wait { turn in
      let registration = set(delay) { turn.begin()?.resume() }
      timer.withLock { $0 = registration }
      if turn.isOver { registration.cancel() }
    } onCancel: { _ in
      timer.withLock { $0 }?.cancel()
    }
  }
}

extension Duration {
  /// The length in whole microseconds, rounded up; the longest that 64 bits hold for a longer one.
  public var microseconds: Int64 {
    let (seconds, attoseconds) = components
    let fraction = attoseconds / 1_000_000_000_000 + (attoseconds % 1_000_000_000_000 > 0 ? 1 : 0)
    let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000)
    if isTooLong { return seconds < 0 ? .min : .max }
    let (sum, overflows) = whole.addingReportingOverflow(fraction)
    return overflows ? .max : sum
  }
}
