/// Decides which listener receives which event: listeners in order of addition, events in one order for all.
///
/// A thread that emits while no other one delivers becomes the one that delivers, and calls `delivered()` until there
/// is nothing left; an event that is emitted during this waits for it. Every event is delivered to the listeners that
/// were registered when it was emitted.
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

  /// The number of each listener, ascending: by it a listener is found without looking at the others.
  @usableFromInline
  var numbers: [UInt64] = []

  @usableFromInline
  var lastNumber: UInt64 = 0

  /// Set by the first `end`.
  @usableFromInline
  var isEnded = false

  /// The error of the end, if it was a failure.
  @usableFromInline
  var endError: (any Error)?

  @usableFromInline
  var isDelivering = false

  @usableFromInline
  var backlog = Fifo<Delivery>()

  @inlinable
  init() {}

  /// - Returns: The number of the listener; `nil` after the end, when it will not be called.
  @inlinable
  mutating func add(_ listener: Listener) -> UInt64? {
    guard !isEnded else { return nil }
    lastNumber += 1
    listeners.append(listener)
    numbers.append(lastNumber)
    return lastNumber
  }

  @inlinable
  mutating func remove(_ number: UInt64) {
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < number { low = middle + 1 } else { high = middle }
    }
    guard low < numbers.count, numbers[low] == number else { return }
    numbers.remove(at: low)
    listeners.remove(at: low)
  }

  /// - Returns: The events to deliver now.
  @inlinable
  mutating func emit(_ event: Event) -> Delivery? {
    guard !isEnded, !listeners.isEmpty else { return nil }
    return deliver(Delivery(news: .event(event), listeners: listeners))
  }

  /// - Returns: The events to deliver now.
  @inlinable
  mutating func end(_ error: (any Error)?) -> Delivery? {
    guard !isEnded else { return nil }
    isEnded = true
    endError = error
    let last = Delivery(news: .end(error), listeners: listeners)
    listeners = []
    numbers = []
    return deliver(last)
  }

  /// The last delivery is done.
  ///
  /// - Returns: The events to deliver next.
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
