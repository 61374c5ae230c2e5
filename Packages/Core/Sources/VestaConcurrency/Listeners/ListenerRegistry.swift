/// Listeners, and the events that they receive.
///
/// - Listeners are called in the order of their addition.
/// - Events have one order, the same for all listeners, also when several threads emit at once and when a listener
///   emits. An event that is emitted while another is being delivered is delivered by the thread that is delivering,
///   after that one: such an `emit` returns before its event was delivered. Any other `emit` returns when its event,
///   and the events emitted in between, have been delivered, but after 1,024 events at the latest: the rest is
///   delivered on a queue, so that no emitter is kept for ever by others.
/// - A listener that is added during a delivery receives later events only.
/// - A listener is not called again once its `cancel()` has returned, if that was called on the delivering thread, for
///   instance in a listener. If it was called on another thread, one call may be under way and still end.
/// - No lock is held while a listener is called or released. A listener may do everything: add, cancel, emit, finish.
///
/// When the registry is deallocated, its listeners are ended, as by `finish()`.
///
/// ```swift
/// let registry = ListenerRegistry<Change>()
/// let registration = registry.add { change in print(change) }
/// registry.emit(.added("a"))
/// registration.cancel()
/// ```
public final class ListenerRegistry<Event: Sendable>: Sendable {
  @usableFromInline
  let book = Locked(ListenerBook<Listener<Event>, Event>())

  /// Makes a registry without listeners.
  @inlinable
  public init() {}

  deinit { finish() }

  /// The number of listeners.
  @inlinable
  public var count: Int { book.withLock { $0.listeners.count } }

  /// Adds a listener.
  ///
  /// - Parameters:
  ///   - onEnd: Is called once, after the last event, when the registry has finished; with the error if it failed.
  ///     In a registry that has finished already it is called before this method returns.
  ///   - listener: Is called with every event that is emitted from now on.
  /// - Returns: The registration, which removes the listener.
  @inlinable
  @discardableResult
  public func add(
    onEnd: (@Sendable ((any Error)?) -> Void)? = nil, _ listener: @escaping @Sendable (Event) -> Void
  ) -> ListenerRegistration {
    let entry = Listener(receive: listener, end: onEnd)
    let (number, error) = book.withLock { ($0.add(entry), $0.endError) }
    guard let number else {
      entry.end(error)
      return ListenerRegistration {}
    }
    return ListenerRegistration { [weak self] in
      entry.silence()
      self?.book.withLock { $0.remove(number) }
    }
  }

  /// Sends `event` to all listeners.
  ///
  /// After the end this does nothing.
  ///
  /// - Parameter event: The event.
  @inlinable
  public func emit(_ event: Event) {
    deliver(book.withLock { $0.emit(event) })
  }

  /// Ends the registry, after the events emitted so far; all listeners are called with the end and removed.
  ///
  /// - Parameter error: Why, if it is a failure. Only the first call counts.
  @inlinable
  public func finish(throwing error: (any Error)? = nil) {
    deliver(book.withLock { $0.end(error) })
  }

  @inlinable
  func deliver(_ first: ListenerBook<Listener<Event>, Event>.Delivery?) {
    var next = first
    var count = 0
    while let delivery = next.take() {
      count += 1
      if count > 1_024 { return deliverLater(delivery) }
      switch delivery.news {
      case .event(let event): for listener in delivery.listeners { listener.receive(event) }
      case .end(let error): for listener in delivery.listeners { listener.end(error) }
      }
      next = book.withLock { $0.delivered() }
    }
  }
}

extension ListenerRegistry {
  /// Continues the delivery elsewhere, where listeners may block without stopping tasks; the registry lives until it is
  /// done.
  @usableFromInline
  func deliverLater(_ delivery: ListenerBook<Listener<Event>, Event>.Delivery) {
    let box = DeliveryBox(delivery)
    BlockingPool.shared.async { self.deliver(box.delivery) }
  }

  // Sound as @unchecked Sendable: written once, and read by the one closure that it is made for.
  private final class DeliveryBox: @unchecked Sendable {
    let delivery: ListenerBook<Listener<Event>, Event>.Delivery
    init(_ delivery: ListenerBook<Listener<Event>, Event>.Delivery) { self.delivery = delivery }
  }
}

/// One listener of a registry, until it is silenced.
@usableFromInline
final class Listener<Event: Sendable>: Sendable {
  /// The closures of a listener.
  ///
  /// An object, so that a call takes a reference out of the lock and not a closure: taking a closure out of generic
  /// storage allocates.
  @usableFromInline
  final class Calls: Sendable {
    @usableFromInline
    let receive: @Sendable (Event) -> Void

    @usableFromInline
    let end: (@Sendable ((any Error)?) -> Void)?

    @inlinable
    init(receive: @escaping @Sendable (Event) -> Void, end: (@Sendable ((any Error)?) -> Void)?) {
      self.receive = receive
      self.end = end
    }
  }

  @usableFromInline
  let calls: Locked<Calls?>

  @inlinable
  init(receive: @escaping @Sendable (Event) -> Void, end: (@Sendable ((any Error)?) -> Void)?) {
    calls = Locked(Calls(receive: receive, end: end))
  }

  @inlinable
  func receive(_ event: Event) {
    let calls = calls.withLock { $0 }
    calls?.receive(event)
  }

  @inlinable
  func end(_ error: (any Error)?) {
    let calls = calls.withLock { $0.take() }
    calls?.end?(error)
  }

  /// Takes the closures out, so that what they captured is released here, with the lock open.
  @inlinable
  func silence() {
    let calls = calls.withLock { $0.take() }
    withExtendedLifetime(calls) {}
  }
}
