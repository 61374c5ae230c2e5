public import VestaConcurrency

/// One source of events of an implementation, and how a check drives it.
public struct ListenerSubject<Event: Sendable & Equatable>: Sendable {
  /// Adds a listener.
  public let add: @Sendable (@escaping @Sendable (Event) -> Void) -> ListenerRegistration

  /// Causes one change and returns the event that listeners must receive.
  ///
  /// The number is a different one for every change that a check causes; the event must differ from all earlier ones.
  /// While several changes are made at once, checks do not look at the event.
  public let change: @Sendable (_ number: Int) async throws -> Event

  /// The current state as an event, where a new listener receives it first; `nil` where it receives changes only.
  public let greeting: (@Sendable () async throws -> Event)?

  /// Calls every synchronous method of the seam; checks call it from within a listener.
  public let callBack: @Sendable () -> Void

  /// The time a check waits before it reports something as missing.
  public let patience: Duration

  /// A source of events.
  ///
  /// - Parameters:
  ///   - patience: The time that a check waits for an event before it fails.
  ///   - add: Adds a listener.
  ///   - greeting: The current state as an event, where a new listener receives it first.
  ///   - callBack: Calls every synchronous method of the seam.
  ///   - change: Causes one change and returns the event that listeners must receive.
  public init(
    patience: Duration = .seconds(30),
    add: @escaping @Sendable (@escaping @Sendable (Event) -> Void) -> ListenerRegistration,
    greeting: (@Sendable () async throws -> Event)? = nil,
    callBack: @escaping @Sendable () -> Void = {},
    change: @escaping @Sendable (_ number: Int) async throws -> Event
  ) {
    self.patience = patience
    self.add = add
    self.greeting = greeting
    self.callBack = callBack
    self.change = change
  }
}

extension ListenerSubject {
  /// Adds a listener that first runs `body`, then records the event.
  func listen(_ body: @escaping @Sendable (Event, EventLog<Event>) -> Void = { _, _ in }) -> EventLog<Event> {
    let log = EventLog<Event>(patience: patience)
    // Weak, so that a listener that was never cancelled does not keep its own registration alive.
    log.keep(
      add { [weak log] event in
        guard let log else { return }
        body(event, log)
        log.record(event)
      })
    return log
  }

  /// Causes one change and waits until a new listener has received it.
  ///
  /// As listeners are called in the order in which they were added, all earlier ones have then received whatever they
  /// would ever receive.
  func changeAndSettle(_ number: Int) async throws -> Event {
    let witness = listen()
    defer { witness.cancel() }
    let event = try await change(number)
    try await witness.wait(for: "\(event)") { $0.contains(event) }
    return event
  }
}
