/// Many callers, one load: a caller that asks while a load for the same key is under way waits for that load.
///
/// - The outcome, a value or an error, is delivered to all waiting callers, in order of arrival.
/// - Nothing is kept: a call after the end starts a new load, after a success as after a failure. A cache, if there
///   is one, is the caller's; its `load` should look there once more, as a flight may have landed since the caller did.
/// - A load runs at medium priority at least: callers of a higher priority may wait for it later.
/// - A task that is cancelled while it waits gets its `CancellationError` at once; the others continue waiting. When
///   the last one has left, the load is cancelled too, and the next caller starts a new one.
/// - A load that would wait for itself, directly or through loads of any other instance, gets a ``LoadCycle``
///   with the path. A load's detached tasks and handlers do not count as parts of it.
///
/// The two forms mix: a handler and a task that ask for one key wait for one load.
///
/// ```swift
/// let tokens = SingleFlight<String, Token>()
/// let token = try await tokens.value(for: user.id) { try await server.refreshToken(of: user) }
/// ```
public final class SingleFlight<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// The result of a load.
  public typealias Outcome = Result<Value, any Error>

  private typealias Machine = SingleFlightMachine<Key, Waiter>

  private enum Waiter: Sendable {
    case handler(@Sendable (Outcome) -> Void)
    case task(Turn<Value>)
  }

  private let machine = Locked(Machine())

  /// Makes an instance in which nothing is under way.
  public init() {}

  /// Whether a load for `key` is under way.
  ///
  /// - Parameter key: The key of the value.
  public func isLoading(_ key: Key) -> Bool { machine.withLock { $0.isInFlight(key) } }

  /// The number of callers that wait for `key`.
  func waiterCount(for key: Key) -> Int { machine.withLock { $0.waiterCount(for: key) } }

  /// Waits for the load of `key`, and starts it if none is under way.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - load: Loads it, in a separate task. Not called when a load is under way.
  /// - Returns: The loaded value.
  /// - Throws: The error of the load; `CancellationError`, at once, when the calling task is cancelled; ``LoadCycle``
  ///   when the calling task is part of a load that this one waits for.
  public func value(
    for key: Key, load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    guard FlightWaits.current.isEmpty else { return try await valueWithinLoad(for: key, load: load) }
    return try await joined(key, load: load)
  }

  /// The value of a key for a caller who is part of a load.
  private func valueWithinLoad(
    for key: Key, load: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    // A flight that lands before the caller waits for it is followed by another one, which is not awaited
    // in a cycle: it would have to wait for the caller's own load by then, and finds that out itself.
    let flight = id(of: machine.withLock { $0.flight(for: key) })
    try FlightWaits.begin(flight)
    defer { FlightWaits.end(flight) }
    return try await joined(key, load: load)
  }

  private func id(of flight: Machine.Flight) -> FlightID {
    FlightID(table: ObjectIdentifier(self), number: flight.number, description: "\(flight.key)")
  }

  private func joined(_ key: Key, load: @escaping @Sendable () async throws -> Value) async throws -> Value {
    try await Turn<Value>().wait { turn in
      if let flight = machine.withLock({ $0.arrive(.task(turn), id: ObjectIdentifier(turn), for: key) }) {
        start(flight, load: load)
      }
      // A cancellation before the arrival found no waiter to remove.
      if turn.isOver { leave(turn, key: key) }
    } onCancel: { turn in
      self.leave(turn, key: key)
    }
  }

  /// Has `handler` called with the outcome of the load of `key`, and starts it if none is under way.
  ///
  /// Handlers are called on the thread that reports the end, one after the other in order of arrival, with no lock
  /// held. A handler cannot leave: a load that one waits for is never cancelled.
  ///
  /// - Parameters:
  ///   - key: The key of the value.
  ///   - start: Starts the load, on the calling thread, before this method returns. It gets a closure to report the
  ///     end with, from any thread, also at once; it must call it in the end, and a second report changes nothing.
  ///     Not called when a load is under way.
  ///   - handler: Gets the outcome.
  public func join(
    _ key: Key,
    start: (_ finish: @escaping @Sendable (Outcome) -> Void) -> Void,
    then handler: @escaping @Sendable (Outcome) -> Void
  ) {
    guard let flight = machine.withLock({ $0.arrive(.handler(handler), id: nil, for: key) }) else { return }
    start { self.land(flight, with: $0) }
  }

  private func start(_ flight: Machine.Flight, load: @escaping @Sendable () async throws -> Value) {
    let chain = FlightWaits.current + [id(of: flight)]
    let task = Task(priority: .ofSharedWork) {
      do {
        land(flight, with: .success(try await FlightWaits.$current.withValue(chain) { try await load() }))
      } catch {
        land(flight, with: .failure(error))
      }
    }
    let goesOn = machine.withLock { $0.attach(abort: { task.cancel() }, to: flight) }
    if !goesOn { task.cancel() }
  }

  private func land(_ flight: Machine.Flight, with outcome: Outcome) {
    for waiter in machine.withLock({ $0.land(flight) }) {
      switch waiter {
      case .handler(let handler): handler(outcome)
      case .task(let turn): turn.begin()?.resume(with: outcome)
      }
    }
  }

  private func leave(_ turn: Turn<Value>, key: Key) {
    machine.withLock { $0.leave(ObjectIdentifier(turn), key: key) }?.abort?()
  }
}

extension TaskPriority {
  /// The priority of work that one caller begins and others may wait for: the caller's, but not that of the background.
  static var ofSharedWork: TaskPriority { max(.medium, Task.currentPriority) }
}
