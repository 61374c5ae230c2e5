public import Dispatch

/// A state and its listeners, with the promises that every listener of a seam keeps: for clients and fakes.
///
/// - Changes happen one after the other; all listeners receive them in that order, one call at a time.
/// - For one change, listeners are called in the order in which they were added; all of them receive it before any
///   receives the next.
/// - Adding a listener never calls it: its greeting, where there is one, is delivered afterwards on the queue.
/// - Listeners are called on a queue, with nothing locked, and may do everything: read, change, add, cancel.
/// - After `cancel()` no further call begins, not even for a change that was already on its way. A call that runs on
///   another thread may still finish.
/// - Dropping a registration keeps the listener; only `cancel()` removes it.
///
/// ```swift
/// let volume = StateSource<Int, Int>(5, greeting: { $0 })
/// let registration = volume.add { print("volume is \($0)") }  // 5, then 6
/// volume.change { state, announce in
///   state = 6
///   announce(state)
/// }
/// registration.cancel()
/// for await value in volume.events { print(value) }           // 6, and what follows
/// ```
public final class StateSource<State: Sendable, Event: Sendable>: Sendable {
  private struct Core {
    var state: State
    var receivers: [QueuedReceiver<Event>] = []
    var ends: [ObjectIdentifier: @Sendable () -> Void] = [:]
    var isFinished = false
  }

  private let core: Locked<Core>
  private let greeting: (@Sendable (State) -> Event)?
  private let queue: ListenerQueue

  /// A source without listeners.
  ///
  /// - Parameters:
  ///   - state: The first state.
  ///   - queue: Where listeners are called; their calls keep their order also on a concurrent queue. Without one the
  ///     source has a separate lane, on threads for code that may block.
  ///   - greeting: Makes a new listener's first event of the current state; `nil` where a listener receives changes
  ///     only.
  public init(_ state: State, on queue: DispatchQueue? = nil, greeting: (@Sendable (State) -> Event)? = nil) {
    core = Locked(Core(state: state))
    self.greeting = greeting
    self.queue = queue.map { .dispatch(DispatchQueue(label: "vesta.listeners", target: $0)) } ?? .lane(BlockingLane())
  }

  deinit { finish() }

  /// The number of listeners.
  public var listenerCount: Int { core.withLock { $0.receivers.count } }

  /// Reads the state.
  ///
  /// - Parameter body: Gets the state; it must not call the source.
  /// - Returns: The result of `body`.
  public func read<Value: Sendable, Failure: Error>(
    _ body: (State) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try core.withLock { core throws(Failure) in try body(core.state) }
  }

  /// Changes the state and announces events, as one step.
  ///
  /// - Parameter body: Gets the state, and a closure that announces an event to all current listeners; it must not call
  ///   the source. Its changes before the error stay.
  /// - Returns: The result of `body`.
  /// - Throws: The error of `body`.
  @discardableResult
  public func change<Value: Sendable, Failure: Error>(
    _ body: (_ state: inout State, _ announce: (Event) -> Void) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try core.withLock { core throws(Failure) in
      let receivers = core.receivers
      let queue = self.queue
      // Under the lock events are only queued, so the order of the queue is the order of the changes.
      return try body(&core.state) { event in
        guard !receivers.isEmpty else { return }
        queue.async { for receiver in receivers { receiver.receive(event) } }
      }
    }
  }

  /// Adds a listener.
  ///
  /// - Parameters:
  ///   - onEnd: Called once, on the queue, after the last event, when the source has finished.
  ///   - listener: Called on the queue with each event from now on, the greeting first where there is one.
  /// - Returns: The registration, which removes the listener.
  public func add(
    onEnd: (@Sendable () -> Void)? = nil, _ listener: @escaping @Sendable (Event) -> Void
  ) -> ListenerRegistration {
    let receiver = QueuedReceiver(on: queue, receive: listener)
    let isAdded = core.withLock { core in
      guard !core.isFinished else { return false }
      core.receivers.append(receiver)
      if let onEnd { core.ends[ObjectIdentifier(receiver)] = onEnd }
      if let greeting { receiver.post(greeting(core.state)) }
      return true
    }
    if !isAdded, let onEnd { queue.async { onEnd() } }
    return ListenerRegistration { [weak self] in
      receiver.silence()
      self?.remove(receiver)
    }
  }

  /// Adds a listener: the form that can be passed as a function.
  public func add(_ listener: @escaping @Sendable (Event) -> Void) -> ListenerRegistration {
    add(onEnd: nil, listener)
  }

  /// The events from now on, the greeting first where there is one; the stream ends when the source finishes.
  public var events: AsyncStream<Event> {
    .events { sink in add(onEnd: { sink.finish() }, { sink.send($0) }) }
  }

  /// Ends the source: all listeners are removed after the events announced so far.
  public func finish() {
    let (receivers, ends) = core.withLock { core in
      core.isFinished = true
      defer { (core.receivers, core.ends) = ([], [:]) }
      return (core.receivers, core.ends)
    }
    guard !receivers.isEmpty else { return }
    queue.async {
      for receiver in receivers {
        let isLive = receiver.isLive
        receiver.silence()
        if isLive { ends[ObjectIdentifier(receiver)]?() }
      }
    }
  }

  private func remove(_ receiver: QueuedReceiver<Event>) {
    // The closure is handed out, so that what it captured is freed with the lock open.
    _ = core.withLock { core in
      core.receivers.removeAll { $0 === receiver }
      return core.ends.removeValue(forKey: ObjectIdentifier(receiver))
    }
  }
}
