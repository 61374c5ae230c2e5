import Dispatch
public import VestaConcurrency

/// The events of a listener, for checks: records them, keeps the registration, and waits with a deadline.
///
/// The deadline only bounds how long a broken implementation can hold a check up; a good one never meets it.
public final class EventLog<Event: Sendable>: Sendable {
  private let core = Core()
  private let patience: Duration

  /// An empty log.
  ///
  /// - Parameter patience: How long a wait may take before it is a violation.
  public init(patience: Duration) { self.patience = patience }

  /// Everything that was recorded, in order.
  public var events: [Event] { core.locked { $0.events } }

  /// Records one event and wakes the tasks that wait for it.
  ///
  /// - Parameter event: The event.
  public func record(_ event: Event) {
    core.locked { core in
      core.events.append(event)
      core.wakeSatisfied()
    }
  }

  /// Keeps a registration for as long as the log lives; cancels it when the log was cancelled before.
  ///
  /// - Parameter registration: The registration of the listener that records here.
  public func keep(_ registration: ListenerRegistration) {
    let isTooLate = core.locked { core in
      core.registration = registration
      return core.isCancelled
    }
    if isTooLate { registration.cancel() }
  }

  /// Cancels the registration, now or as soon as it is there.
  public func cancel() {
    let registration = core.locked { core in
      core.isCancelled = true
      return core.registration
    }
    registration?.cancel()
  }

  /// Waits until the recorded events satisfy a condition.
  ///
  /// - Parameters:
  ///   - what: The name of the event, for the message.
  ///   - isSatisfied: The condition; checked after every event.
  /// - Throws: `ContractViolation` with the events so far when the patience is at an end.
  public func wait(for what: String, until isSatisfied: @escaping @Sendable ([Event]) -> Bool) async throws {
    let deadline = DispatchTime.now() + patience.dispatchInterval
    try await withCheckedThrowingContinuation { continuation in
      core.wait(Waiter(what: what, isSatisfied: isSatisfied, continuation: continuation), until: deadline)
    }
  }

  fileprivate struct Waiter: Sendable {
    let what: String
    let isSatisfied: @Sendable ([Event]) -> Bool
    let continuation: CheckedContinuation<Void, any Error>
  }

  // Unchecked: every property is only touched on `queue`.
  private final class Core: @unchecked Sendable {
    var events: [Event] = []
    var registration: ListenerRegistration?
    var isCancelled = false
    private var waiters: [Int: Waiter] = [:]
    private var nextID = 0
    private let queue = DispatchQueue(label: "vesta.contracts.log")

    func locked<Value>(_ body: (Core) -> Value) -> Value { queue.sync { body(self) } }

    func wait(_ waiter: Waiter, until deadline: DispatchTime) {
      queue.async { [self] in
        guard !waiter.isSatisfied(events) else { return waiter.continuation.resume() }
        nextID += 1
        waiters[nextID] = waiter
        queue.asyncAfter(deadline: deadline) { [self, id = nextID] in giveUp(id) }
      }
    }

    func wakeSatisfied() {
      for (id, waiter) in waiters where waiter.isSatisfied(events) {
        waiters.removeValue(forKey: id)
        waiter.continuation.resume()
      }
    }

    private func giveUp(_ id: Int) {
      guard let waiter = waiters.removeValue(forKey: id) else { return }
      waiter.continuation.resume(throwing: ContractViolation("waited in vain for \(waiter.what); heard \(summary)"))
    }

    /// The last events only when there are many, so that the report of a failure can be read.
    private var summary: String {
      events.count <= 10 ? "\(events)" : "\(events.count) events, at last \(events.suffix(10))"
    }
  }
}

/// Runs an operation that a broken implementation might never finish.
///
/// - Parameters:
///   - patience: How long it may take.
///   - what: The name of the operation, for the message.
///   - operation: The operation; it is cancelled and left alone when the patience is at an end.
/// - Returns: The result of the operation.
/// - Throws: The error of the operation, or `ContractViolation` when it did not end.
public func expectEnd<Value: Sendable>(
  within patience: Duration,
  of what: String,
  _ operation: @escaping @Sendable () async throws -> Value
) async throws -> Value {
  let log = EventLog<Result<Value, any Error>>(patience: patience)
  let task = Task.detached {
    do {
      log.record(.success(try await operation()))
    } catch {
      log.record(.failure(error))
    }
  }
  defer { task.cancel() }
  try await log.wait(for: "the end of \(what)") { !$0.isEmpty }
  return try log.events[0].get()
}

/// Cancels calls that an implementation holds back, and gives them the time to leave.
///
/// A check of the calls that stay begins after this one, and not in the middle of it. Calls that never leave are no
/// violation here: that is another promise.
///
/// - Parameters:
///   - calls: The calls to cancel.
///   - patience: How long they may take to leave, two seconds at most.
public func leave<Value: Sendable, Failure: Error>(
  _ calls: some Collection<Task<Value, Failure>> & Sendable,
  patience: Duration
) async {
  for call in calls { call.cancel() }
  try? await expectEnd(within: min(patience, .seconds(2)), of: "cancelled calls") {
    for call in calls { _ = await call.result }
  }
}
