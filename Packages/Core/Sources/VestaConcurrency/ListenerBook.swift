/// Decides who hears what: listeners in order of addition, events in one order for all.
///
/// Whoever emits while nobody delivers becomes the one who delivers, and goes on with `delivered()` until there is
/// nothing left; an event that is emitted meanwhile waits for it. Every event goes to those who were listening when it
/// was emitted.
struct ListenerBook<Listener: AnyObject, Event> {
  enum News {
    case event(Event)
    /// No more events.
    case end((any Error)?)
  }

  struct Delivery {
    let news: News
    let listeners: [Listener]
  }

  private(set) var listeners: [Listener] = []
  /// Set by the first `end`.
  private(set) var isEnded = false
  /// What the end was, once there is one.
  private(set) var endError: (any Error)?
  private var isDelivering = false
  private var backlog = Fifo<Delivery>()

  /// - Returns: Whether the listener will hear anything.
  mutating func add(_ listener: Listener) -> Bool {
    guard !isEnded else { return false }
    listeners.append(listener)
    return true
  }

  mutating func remove(_ listener: Listener) {
    guard let index = listeners.firstIndex(where: { $0 === listener }) else { return }
    listeners.remove(at: index)
  }

  /// - Returns: What the caller has to deliver now.
  mutating func emit(_ event: Event) -> Delivery? {
    guard !isEnded, !listeners.isEmpty else { return nil }
    return deliver(Delivery(news: .event(event), listeners: listeners))
  }

  /// - Returns: What the caller has to deliver now.
  mutating func end(_ error: (any Error)?) -> Delivery? {
    guard !isEnded else { return nil }
    isEnded = true
    endError = error
    let last = Delivery(news: .end(error), listeners: listeners)
    listeners = []
    return deliver(last)
  }

  /// The last delivery is done.
  ///
  /// - Returns: What the caller has to deliver next.
  mutating func delivered() -> Delivery? {
    let next = backlog.popFirst()
    isDelivering = next != nil
    return next
  }

  private mutating func deliver(_ delivery: Delivery) -> Delivery? {
    guard isDelivering else {
      isDelivering = true
      return delivery
    }
    backlog.append(delivery)
    return nil
  }
}
