import Dispatch
public import VestaListenerInterop
import Synchronization

/// The state of a fake and the listeners that hear of its changes: all a fake needs to keep the promises of
/// `InteropRegistration`.
///
/// State changes happen one after the other. Listeners are called on a queue of their own, in the order of the changes,
/// with nothing locked, so a listener may call back into the fake.
///
/// ```swift
/// let source = FakeSource<Int, Int>(0, greeting: { $0 })
/// let registration = source.add { print($0) }  // prints 0, then 1
/// source.change { state, announce in
///   state = 1
///   announce(state)
/// }
/// registration.cancel()
/// ```
public final class FakeSource<State: Sendable, Event: Sendable>: Sendable {
  /// What is called with each event.
  public typealias Listener = @Sendable (Event) -> Void

  private let core: Core

  /// A source with a first state and no listeners.
  ///
  /// - Parameters:
  ///   - state: The first state.
  ///   - greeting: Makes a new listener's first event out of the state at that moment; `nil` where a listener hears of
  ///     changes only.
  public init(_ state: State, greeting: (@Sendable (State) -> Event)? = nil) {
    core = Core(state, greeting: greeting)
  }

  /// How many listeners there are, for tests that watch for leaks.
  public var listenerCount: Int { core.locked { $0.entries.count } }

  /// Reads the state.
  ///
  /// - Parameter body: Gets the state; it must not call the source.
  /// - Returns: What `body` returned.
  public func read<Value>(_ body: (State) throws -> Value) rethrows -> Value {
    try core.locked { try body($0.state) }
  }

  /// Changes the state and announces what there is to announce, as one step.
  ///
  /// - Parameter body: Gets the state and a closure that announces an event to all present listeners; it must not call
  ///   the source. What it changed before it threw stays changed.
  /// - Returns: What `body` returned.
  @discardableResult
  public func change<Value>(
    _ body: (_ state: inout State, _ announce: (Event) -> Void) throws -> Value
  ) rethrows -> Value {
    try core.locked { core in
      try body(&core.state) { [core] event in core.deliver(event, to: core.entries) }
    }
  }

  /// Adds a listener.
  ///
  /// - Parameter listener: Called for each event from now on, the greeting first where there is one.
  /// - Returns: Cancels the listener.
  public func add(_ listener: @escaping Listener) -> InteropRegistration {
    let entry = Entry(listener)
    core.locked { core in
      core.entries.append(entry)
      if let greeting = core.greeting { core.deliver(greeting(core.state), to: [entry]) }
    }
    return InteropRegistration { [core] in core.remove(entry) }
  }

  private final class Entry: Sendable {
    let listener: Listener
    let isLive = Atomic(true)

    init(_ listener: @escaping Listener) { self.listener = listener }
  }

  // Unchecked: `state` and `entries` are only touched inside `locked`, that is on `queue`.
  private final class Core: @unchecked Sendable {
    var state: State
    var entries: [Entry] = []
    let greeting: (@Sendable (State) -> Event)?
    private let queue = DispatchQueue(label: "vesta.fake.state")
    private let calls = DispatchQueue(label: "vesta.fake.calls")

    init(_ state: State, greeting: (@Sendable (State) -> Event)?) {
      self.state = state
      self.greeting = greeting
    }

    func locked<Value>(_ body: (Core) throws -> Value) rethrows -> Value {
      try queue.sync { try body(self) }
    }

    // Only enqueues, so it may be used inside `locked`: the order of the queue is the order of the changes.
    func deliver(_ event: Event, to entries: [Entry]) {
      calls.async {
        for entry in entries where entry.isLive.load(ordering: .acquiring) { entry.listener(event) }
      }
    }

    func remove(_ entry: Entry) {
      entry.isLive.store(false, ordering: .releasing)
      locked { core in core.entries.removeAll { $0 === entry } }
    }
  }
}
