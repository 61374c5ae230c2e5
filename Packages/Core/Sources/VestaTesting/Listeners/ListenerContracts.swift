import VestaConcurrency

/// The promises that every listener of every seam keeps.
///
/// - Adding a listener never calls it: a caller may hold a lock around the call that its listener takes, too.
/// - A listener gets every change in the order in which they happened, one call at a time.
/// - For one change, listeners are called in the order in which they were added; all of them get it before any gets the
///   next.
/// - A listener may call anything of the seam, and may cancel itself.
/// - After `cancel()` no further call begins, not even for a change that was already on its way. A call that runs on
///   another thread may still finish.
/// - Dropping the registration keeps the listener: only `cancel()` removes it.
///
/// `StateSource` of VestaConcurrency keeps all of them. A seam adds them to its own contracts:
///
/// ```swift
/// static let listeners = ListenerContracts.all(greets: false) { (subject: FlagsSubject) in
///   ListenerSubject(
///     add: { subject.flags.addFlagListener($0) },
///     change: { number in
///       try await subject.set("flag-\(number)", true)
///       return FlagChange(name: "flag-\(number)", isOn: true)
///     })
/// }
/// ```
public enum ListenerContracts {
  /// The promises as checks on an implementation of a seam.
  ///
  /// - Parameters:
  ///   - greets: Whether a new listener first receives the current state.
  ///   - source: Finds the source of events in the seam's subject.
  /// - Returns: One contract for each promise, in a fixed order.
  public static func all<Subject, Event>(
    greets: Bool,
    source: @escaping @Sendable (Subject) -> ListenerSubject<Event>
  ) -> [Contract<Subject>] {
    let promises: [Promise<Event>] = shared() + (greets ? greeting() : silence())
    return promises.map { promise in
      Contract(promise.name) { try await promise.check(source($0)) }
    }
  }

  struct Promise<Event: Sendable & Equatable>: Sendable {
    let name: String
    let check: @Sendable (ListenerSubject<Event>) async throws -> Void
  }

  private static func shared<Event>() -> [Promise<Event>] {
    [
      Promise(name: "a listener hears every change once and in order", check: hearsEveryChange),
      Promise(name: "listeners are called in the order in which they were added", check: keepsOrderOfListeners),
      Promise(name: "a listener is called once at a time", check: callsOneAtATime),
      Promise(name: "nothing is heard after cancel", check: cancelIsFinal),
      Promise(name: "a listener that cancels itself hears nothing that was on its way", check: cancelsWithin),
      Promise(name: "cancelling twice removes one listener", check: cancelsOnce),
      Promise(name: "a dropped registration keeps its listener", check: outlivesRegistration),
      Promise(name: "a listener may call back into the seam", check: allowsCallBack),
      Promise(name: "64 tasks may add, change and cancel at once", check: bearsManyTasks),
    ]
  }

  private static func greeting<Event>() -> [Promise<Event>] {
    [
      Promise(name: "a new listener first hears the current state", check: greetsWithCurrentState),
      Promise(name: "adding a listener does not call it", check: addDoesNotCall),
    ]
  }

  private static func silence<Event>() -> [Promise<Event>] {
    [Promise(name: "a new listener hears nothing before the first change", check: isSilentAtFirst)]
  }
}

// MARK: - Received events

extension ListenerContracts {
  private static func hearsEveryChange<Event>(_ subject: ListenerSubject<Event>) async throws {
    let log = subject.listen()
    var expected: [Event] = []
    for number in 1...6 { expected.append(try await subject.change(number)) }
    let last = expected[5]
    try await log.wait(for: "\(last)") { $0.contains(last) }
    let end = try await subject.changeAndSettle(7)
    try await log.wait(for: "\(end)") { $0.contains(end) }
    let heard = log.events.drop { $0 != expected[0] }.dropLast()
    try expect(Array(heard), equals: expected, "the changes heard")
  }

  private static func keepsOrderOfListeners<Event>(_ subject: ListenerSubject<Event>) async throws {
    let calls = EventLog<Int>(patience: subject.patience)
    let isSecond = Gate()
    let logs = (0..<4).map { place in
      subject.listen { _, _ in if isSecond.passes(within: .zero) { calls.record(place) } }
    }
    let first = try await subject.change(1)
    for log in logs { try await log.wait(for: "\(first)") { $0.contains(first) } }
    isSecond.open()
    let second = try await subject.change(2)
    for log in logs { try await log.wait(for: "\(second)") { $0.contains(second) } }
    try expect(calls.events, equals: [0, 1, 2, 3], "the order of the calls")
  }

  private static func callsOneAtATime<Event>(_ subject: ListenerSubject<Event>) async throws {
    let probe = OverlapProbe()
    let log = subject.listen { _, _ in probe.call() }
    try await subject.changeAtOnce(1...64)
    try await log.wait(for: "64 events") { $0.count >= 64 }
    try expect(!probe.hasOverlapped, "two calls of one listener ran at once")
  }

  private static func greetsWithCurrentState<Event>(_ subject: ListenerSubject<Event>) async throws {
    for number in 1...3 {
      let current = try await expectValue(subject.greeting, "a greeting in the subject")()
      let log = subject.listen()
      try await log.wait(for: "the current state") { !$0.isEmpty }
      try expect(log.events.first, equals: current, "the first event")
      _ = try await subject.change(number)
    }
  }

  private static func isSilentAtFirst<Event>(_ subject: ListenerSubject<Event>) async throws {
    _ = try await subject.change(1)
    let log = subject.listen()
    let event = try await subject.changeAndSettle(2)
    try await log.wait(for: "\(event)") { $0.contains(event) }
    try expect(log.events, equals: [event], "the events of a listener that was added after the first change")
  }
}

// MARK: - Adding and cancelling

extension ListenerContracts {
  // A caller that holds a lock around the call which its listener takes as well: an implementation that calls the
  // listener from within `add` would never return. The time limit only matters to such a one.
  private static func addDoesNotCall<Event>(_ subject: ListenerSubject<Event>) async throws {
    let gate = Gate()
    let log = EventLog<Bool>(patience: subject.patience)
    let registration = subject.add { _ in log.record(gate.passes(within: subject.patience)) }
    gate.open()
    log.keep(registration)
    try await log.wait(for: "the current state") { !$0.isEmpty }
    try expect(log.events[0], "the listener was called before add returned")
  }

  private static func cancelIsFinal<Event>(_ subject: ListenerSubject<Event>) async throws {
    let log = subject.listen()
    let event = try await subject.change(1)
    try await log.wait(for: "\(event)") { $0.contains(event) }
    let before = log.events
    log.cancel()
    for number in 2...4 { _ = try await subject.changeAndSettle(number) }
    try expect(log.events, equals: before, "the events heard")
  }

  // The first call waits until more changes have been made. An implementation that calls its listeners from within the
  // change cannot get that far; there the wait ends by itself and the rest of the check still holds.
  private static func cancelsWithin<Event>(_ subject: ListenerSubject<Event>) async throws {
    let gate = Gate()
    let log = subject.listen { _, log in
      _ = gate.passes(within: .seconds(5))
      log.cancel()
    }
    for number in 1...3 { _ = try await subject.change(number) }
    gate.open()
    _ = try await subject.changeAndSettle(4)
    try expect(log.events.count, equals: 1, "the number of events heard")
  }

  private static func cancelsOnce<Event>(_ subject: ListenerSubject<Event>) async throws {
    let others = [subject.listen(), subject.listen()]
    let log = subject.listen()
    for _ in 1...3 { log.cancel() }
    let event = try await subject.change(1)
    for other in others { try await other.wait(for: "\(event), beside a cancelled listener") { $0.contains(event) } }
  }

  private static func outlivesRegistration<Event>(_ subject: ListenerSubject<Event>) async throws {
    let log = EventLog<Event>(patience: subject.patience)
    _ = subject.add { log.record($0) }
    let event = try await subject.change(1)
    try await log.wait(for: "\(event), after its registration was dropped") { $0.contains(event) }
  }
}

// MARK: - Threads

extension ListenerContracts {
  private static func allowsCallBack<Event>(_ subject: ListenerSubject<Event>) async throws {
    let log = subject.listen { _, _ in
      subject.callBack()
      subject.add { _ in }.cancel()
    }
    let event = try await expectEnd(within: subject.patience, of: "a change with a listener that calls back") {
      try await subject.change(1)
    }
    try await log.wait(for: "\(event), by a listener that calls back") { $0.contains(event) }
  }

  private static func bearsManyTasks<Event>(_ subject: ListenerSubject<Event>) async throws {
    let logs = try await withThrowingTaskGroup(of: (Int, EventLog<Event>).self) { group in
      for number in 1...64 {
        group.addTask {
          let log = subject.listen()
          _ = try await subject.change(number)
          if number.isMultiple(of: 2) { log.cancel() }
          return (number, log)
        }
      }
      return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    let last = try await subject.changeAndSettle(65)
    let kept = logs.filter { $0.key % 2 == 1 }.values
    for log in kept { try await log.wait(for: "the last change, \(last)") { $0.last == last } }
    // The greeting apart, a listener of a shorter time received the end of what the others received.
    let histories = kept.map(\.events).sorted { $0.count < $1.count }
    for (shorter, longer) in zip(histories, histories.dropFirst()) {
      let common = Array(shorter.dropFirst(subject.greeting == nil ? 0 : 1))
      try expect(Array(longer.suffix(common.count)), equals: common, "the order of events at two listeners")
    }
  }
}
