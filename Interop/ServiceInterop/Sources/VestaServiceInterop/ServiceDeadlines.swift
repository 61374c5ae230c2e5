public import VestaConcurrency

/// The deadlines of the calls that run, behind one timer of the clock.
///
/// A separate timer for each call would cost more than the call, and the system keeps a cancelled timer until its
/// deadline: calls of microseconds with limits of a minute would fill the memory with them. Here the timer is
/// set for the earliest deadline and stays when that call ends; when it fires, it is set for the next one.
///
/// With calls that end at 60, 61 and 62 s, the timer is set for 60 s, and the second and third call set none. The first
/// call ends early and leaves the timer alone; at 60 s nothing is due, and the timer is set for 61 s.
public final class ServiceDeadlines: Sendable {
  private struct State {
    var table = DeadlineTable<@Sendable () -> Void>()
    var timer: ListenerRegistration?
  }

  private let clock: ServiceClock
  private let state = Locked(State())

  /// A table without deadlines.
  ///
  /// - Parameter clock: The clock by which deadlines count.
  public init(_ clock: ServiceClock) { self.clock = clock }

  deinit { state.withLock { $0.timer }?.cancel() }

  /// The number of deadlines that wait.
  public var count: Int { state.withLock { $0.table.count } }

  /// Calls the work at a time, unless the registration is cancelled before.
  ///
  /// - Parameters:
  ///   - deadline: The time, in microseconds since 1970.
  ///   - work: Called once, on any thread.
  /// - Returns: The registration, which removes the deadline.
  public func add(at deadline: Int64, _ work: @escaping @Sendable () -> Void) -> ListenerRegistration {
    let length = deadline == .max ? .max : max(0, deadline - clock.now())
    let (number, timer) = state.withLock { $0.table.add(work, at: deadline, length: length) }
    if let timer { set(timer) }
    return ListenerRegistration { [weak self] in
      let removed = self?.state.withLock { $0.table.remove(number) }
      withExtendedLifetime(removed) {}
    }
  }

  /// Sets a timer in place of the one that was set.
  private func set(_ timer: DeadlineTimer) {
    let registration = clock.schedule(at: timer.deadline) { [weak self] in self?.fire(timer) }
    let stale = state.withLock { state -> ListenerRegistration? in
      // It may have fired, or another call may have set an earlier one since.
      guard state.table.timer == timer else { return registration }
      defer { state.timer = registration }
      return state.timer
    }
    stale?.cancel()
  }

  private func fire(_ timer: DeadlineTimer) {
    let now = clock.now()
    let (due, next) = state.withLock { $0.table.fire(timer, now: now) }
    for work in due { work() }
    if let next { set(next) }
  }
}

/// A timer that is wanted.
///
/// Its number distinguishes it from another timer for the same deadline: a timer that has fired must not take the place
/// of one that is set for an equal deadline.
struct DeadlineTimer: Hashable {
  let deadline: Int64
  let number: Int
}

/// Deadlines with the work that is due at them; pure.
struct DeadlineTable<Work> {
  private struct Entry {
    var deadline: Int64
    let length: Int64
    let work: Work
  }

  private var entries: [Int: Entry] = [:]
  private var lastNumber = 0
  private var lastTimer = 0

  /// The timer that is wanted; `nil` when none is.
  private(set) var timer: DeadlineTimer?

  init() {}

  /// The number of deadlines that wait.
  var count: Int { entries.count }

  /// Adds a deadline.
  ///
  /// - Parameters:
  ///   - work: The work that is due then.
  ///   - deadline: The time.
  ///   - length: How far ahead that is; a deadline that is further ahead later was set before the clock was set back.
  /// - Returns: Its number, and the timer to set for it when it is the earliest.
  mutating func add(
    _ work: Work, at deadline: Int64, length: Int64 = .max
  ) -> (number: Int, timer: DeadlineTimer?) {
    lastNumber += 1
    entries[lastNumber] = Entry(deadline: deadline, length: length, work: work)
    guard deadline < timer?.deadline ?? .max else { return (lastNumber, nil) }
    return (lastNumber, want(deadline))
  }

  mutating func remove(_ number: Int) -> Work? { entries.removeValue(forKey: number)?.work }

  /// A timer has fired.
  ///
  /// - Returns: The work that is due, in the order in which it was added, and the timer to set next; nothing for a
  ///   timer that is not wanted.
  mutating func fire(_ fired: DeadlineTimer, now: Int64) -> (due: [Work], next: DeadlineTimer?) {
    guard timer == fired else { return ([], nil) }
    let due = entries.filter { $0.value.deadline <= max(fired.deadline, now) }.sorted { $0.key < $1.key }
    for (number, _) in due { entries[number] = nil }
    for (number, entry) in entries where entry.deadline < .max && entry.deadline - now > entry.length {
      entries[number]?.deadline = now + entry.length
    }
    return (due.map(\.value.work), want(entries.values.map(\.deadline).filter { $0 < .max }.min()))
  }

  private mutating func want(_ deadline: Int64?) -> DeadlineTimer? {
    lastTimer += 1
    timer = deadline.map { DeadlineTimer(deadline: $0, number: lastTimer) }
    return timer
  }
}
