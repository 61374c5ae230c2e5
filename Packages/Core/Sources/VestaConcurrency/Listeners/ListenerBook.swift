/// Decides who hears what: listeners in order of addition, events in one order for all.
///
/// Whoever emits while nobody delivers becomes the one who delivers, and goes on with `delivered()` until there is
/// nothing left; an event that is emitted meanwhile waits for it. Every event goes to those who were listening when it
/// was emitted.
@usableFromInline
struct ListenerBook<Listener: AnyObject, Event> {
  @usableFromInline
  enum News {
    case event(Event)
    /// No more events.
    case end((any Error)?)
  }

  @usableFromInline
  struct Delivery {
    @usableFromInline
    let news: News

    @usableFromInline
    let listeners: [Listener]

    @inlinable
    init(news: News, listeners: [Listener]) {
      self.news = news
      self.listeners = listeners
    }
  }

  @usableFromInline
  var listeners: [Listener] = []

  /// Set by the first `end`.
  @usableFromInline
  var isEnded = false

  /// What the end was, once there is one.
  @usableFromInline
  var endError: (any Error)?

  @usableFromInline
  var isDelivering = false

  @usableFromInline
  var backlog = Fifo<Delivery>()

  @inlinable
  init() {}

  /// - Returns: Whether the listener will hear anything.
  @inlinable
  mutating func add(_ listener: Listener) -> Bool {
    guard !isEnded else { return false }
    listeners.append(listener)
    return true
  }

  @inlinable
  mutating func remove(_ listener: Listener) {
    guard let index = listeners.firstIndex(where: { $0 === listener }) else { return }
    listeners.remove(at: index)
  }

  /// - Returns: What the caller has to deliver now.
  @inlinable
  mutating func emit(_ event: Event) -> Delivery? {
    guard !isEnded, !listeners.isEmpty else { return nil }
    return deliver(Delivery(news: .event(event), listeners: listeners))
  }

  /// - Returns: What the caller has to deliver now.
  @inlinable
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
  @inlinable
  mutating func delivered() -> Delivery? {
    let next = backlog.popFirst()
    isDelivering = next != nil
    return next
  }

  @inlinable
  mutating func deliver(_ delivery: Delivery) -> Delivery? {
    guard isDelivering else {
      isDelivering = true
      return delivery
    }
    backlog.append(delivery)
    return nil
  }
}
