public import Dispatch

/// Carries events to a listener on a dedicated queue, in order.
///
/// A source whose listeners may call back into it, and which must not call them while it changes, posts to these. The
/// listener's closure is released by the remover, or on its queue: never by the poster, because what the closure
/// captured may call the source when it is freed.
///
/// ```swift
/// let receiver = QueuedReceiver(queue: callbackQueue, receive: listener)
/// let registration = registry.add(onEnd: { _ in receiver.end() }, { receiver.post($0) })
/// return ListenerRegistration {
///   receiver.silence()
///   registration.cancel()
/// }
/// ```
public final class QueuedReceiver<Event: Sendable>: Sendable {
  /// The closure in a separate structure, as ``Locked`` requires.
  private struct Listener: Sendable {
    let receive: @Sendable (Event) -> Void
  }

  private let queue: ListenerQueue
  private let listener: Locked<Listener?>

  /// A receiver.
  ///
  /// - Parameters:
  ///   - queue: A serial queue, or a concurrent one where the order of the calls does not matter.
  ///   - receive: Called with each event, on the queue.
  public init(queue: DispatchQueue, receive: @escaping @Sendable (Event) -> Void) {
    self.queue = .dispatch(queue)
    listener = Locked(Listener(receive: receive))
  }

  /// A receiver whose listener may block, because no queue was chosen for it.
  ///
  /// - Parameters:
  ///   - lane: The lane of this listener, or of all that have an order among them.
  ///   - receive: Called with each event, on a thread of the lane's pool.
  public init(lane: BlockingLane, receive: @escaping @Sendable (Event) -> Void) {
    queue = .lane(lane)
    listener = Locked(Listener(receive: receive))
  }

  init(on queue: ListenerQueue, receive: @escaping @Sendable (Event) -> Void) {
    self.queue = queue
    listener = Locked(Listener(receive: receive))
  }

  /// Whether events are still delivered.
  public var isLive: Bool { listener.withLock { $0 != nil } }

  /// Has the listener called with an event, later; returns at once.
  public func post(_ event: Event) {
    queue.async { self.receive(event) }
  }

  /// Calls the listener now, on the calling thread: for a source that is on the queue already.
  public func receive(_ event: Event) {
    let listener = listener.withLock { $0 }
    listener?.receive(event)
  }

  /// Releases the listener after the events posted so far.
  public func end() { queue.async { self.silence() } }

  /// Releases the listener: no call begins after this one, not even for an event that was posted before.
  public func silence() {
    let listener = listener.withLock { $0.take() }
    withExtendedLifetime(listener) {}
  }
}

/// The queue of a listener: one that was chosen for it, or a lane of threads for code that may block.
enum ListenerQueue: Sendable {
  case dispatch(DispatchQueue)
  case lane(BlockingLane)

  func async(_ work: @escaping @Sendable () -> Void) {
    switch self {
    case .dispatch(let queue): queue.async(execute: work)
    case .lane(let lane): lane.async(work)
    }
  }
}
