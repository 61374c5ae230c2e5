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
    let (number, isEarliest) = state.withLock { $0.table.add(work, at: deadline, length: length) }
    if isEarliest { setTimer() }
    return ListenerRegistration { [weak self] in
      let removed = self?.state.withLock { $0.table.remove(number) }
      withExtendedLifetime(removed) {}
    }
  }

  /// Sets the timer for the earliest deadline, in place of the one that was set.
  private func setTimer() {
    guard let deadline = state.withLock({ $0.table.armed }) else { return }
    let timer = clock.schedule(at: deadline) { [weak self] in self?.fire(at: deadline) }
    let stale = state.withLock { state -> ListenerRegistration? in
      // Another call may have set an earlier one since.
      guard state.table.armed == deadline else { return timer }
      defer { state.timer = timer }
      return state.timer
    }
    stale?.cancel()
  }

  private func fire(at deadline: Int64) {
    let now = clock.now()
    let due = state.withLock { $0.table.fire(at: deadline, now: now) }
    for work in due { work() }
    setTimer()
  }
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

  /// The deadline for which a timer is wanted; `nil` when none is.
  private(set) var armed: Int64?

  init() {}

  /// The number of deadlines that wait.
  var count: Int { entries.count }

  /// Adds a deadline.
  ///
  /// - Parameters:
  ///   - work: The work that is due then.
  ///   - deadline: The time.
  ///   - length: How far ahead that is; a deadline that is further ahead later was set before the clock was set back.
  /// - Returns: Its number, and whether a timer is wanted for it.
  mutating func add(
    _ work: Work, at deadline: Int64, length: Int64 = .max
  ) -> (number: Int, isEarliest: Bool) {
    lastNumber += 1
    entries[lastNumber] = Entry(deadline: deadline, length: length, work: work)
    guard deadline < armed ?? .max else { return (lastNumber, false) }
    armed = deadline
    return (lastNumber, true)
  }

  mutating func remove(_ number: Int) -> Work? { entries.removeValue(forKey: number)?.work }

  /// A timer has fired.
  ///
  /// - Returns: The work that is due, in the order in which it was added; nothing for a timer that is not wanted any
  ///   more.
  mutating func fire(at deadline: Int64, now: Int64) -> [Work] {
    guard armed == deadline else { return [] }
    let due = entries.filter { $0.value.deadline <= max(deadline, now) }.sorted { $0.key < $1.key }
    for (number, _) in due { entries[number] = nil }
    for (number, entry) in entries where entry.deadline < .max && entry.deadline - now > entry.length {
      entries[number]?.deadline = now + entry.length
    }
    armed = entries.values.map(\.deadline).filter { $0 < .max }.min()
    return due.map(\.value.work)
  }
}
