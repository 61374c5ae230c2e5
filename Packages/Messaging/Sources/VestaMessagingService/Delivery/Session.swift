import VestaConcurrency
import VestaMessagingBackend

/// One connection of a registration: the deliveries that are under way, one call at a time.
///
/// A ``DeliveryRunner`` calls its receiver.
final class Session: Sendable {
  /// The number of the connection.
  let id: Int
  let key: RegistrationKey
  let platform: String
  let token: String
  /// The last message before the connection: immediate ones up to it are not for it.
  let startNumber: Int64

  private struct Handlers: Sendable {
    var receive: @Sendable (PushDelivery) -> Void
    var end: @Sendable (MessagingServiceError?) -> Void
  }

  private struct State {
    var handlers: Handlers?
    var outgoing = Fifo<PushDelivery>()
    var isDelivering = false
    var window: DeliveryWindow
  }

  private static let lastID = Locked(0)

  private let runner: DeliveryRunner
  private let state: Locked<State>

  init(
    key: RegistrationKey, platform: String, token: String, startNumber: Int64, window: Int,
    longestTrail: Int = MessagingServiceTuning().longestTrail, runner: DeliveryRunner,
    onEnd: @escaping @Sendable (MessagingServiceError?) -> Void, receive: @escaping @Sendable (PushDelivery) -> Void
  ) {
    (self.key, self.platform, self.token) = (key, platform, token)
    (self.startNumber, self.runner) = (startNumber, runner)
    id = Self.lastID.withLock { last in
      last += 1
      return last
    }
    let window = DeliveryWindow(size: window, longestTrail: longestTrail)
    state = Locked(State(handlers: Handlers(receive: receive, end: onEnd), window: window))
  }

  /// Whether the handlers are still called.
  var isLive: Bool { state.withLock { $0.handlers != nil } }
  var position: Int64 { state.withLock { $0.window.position } }
  var freeWindow: Int { state.withLock { $0.window.free } }
  /// The messages that are under way, and the ones for many among them, in order.
  var underWay: (all: Set<Int64>, broadcasts: [Int64]) { state.withLock { $0.window.underWay } }

  // MARK: Loads

  /// Whether the caller is the one that loads waiting messages; another one that does so repeats its round.
  func beginReading() -> Bool { state.withLock { $0.window.beginReading() } }

  /// Whether the reading stops here.
  func endReading() -> Bool { state.withLock { $0.window.endReading() } }

  /// Has the next delivery tell of messages that were dropped.
  func noteDropped(_ count: Int64) { state.withLock { $0.window.noteDropped(count) } }

  func advance(to number: Int64) { state.withLock { $0.window.advance(to: number) } }

  // MARK: Delivering

  /// Notes that the dispatcher is about to deliver a message: a read that begins in between takes it for one that is
  /// under way.
  func announce(_ number: Int64, isBroadcast: Bool) {
    state.withLock { $0.window.announce(number, isBroadcast: isBroadcast) }
  }

  /// The dispatcher does not deliver the message after all.
  func withdraw(_ number: Int64) { state.withLock { $0.window.withdraw(number) } }

  /// The outcome of a delivery.
  enum Outcome { case delivered, superfluous, windowIsFull }

  /// Delivers a message, later, unless it is under way already.
  func deliver(_ delivery: PushDelivery, number: Int64, isBroadcast: Bool) -> Outcome {
    let (outcome, begins) = state.withLock { state -> (Outcome, Bool) in
      switch state.window.deliver(number, isBroadcast: isBroadcast, isLive: state.handlers != nil) {
      case .superfluous: return (.superfluous, false)
      case .windowIsFull: return (.windowIsFull, false)
      case .delivered(let dropped):
        var delivery = delivery
        delivery.droppedBefore = dropped
        state.outgoing.append(delivery)
        defer { state.isDelivering = true }
        return (.delivered, !state.isDelivering)
      }
    }
    if begins { runner.submit(self) }
    return outcome
  }

  /// Calls the receiver with the deliveries so far, for the runner.
  ///
  /// - Returns: Whether there are more by now: the runner has to drain the connection again.
  func drain() -> Bool {
    let (handlers, deliveries) = state.withLock { state in (state.handlers, state.outgoing.takeAll()) }
    for delivery in deliveries {
      // Looked at each time: a delivery may have cancelled the connection.
      guard let handlers, state.withLock({ $0.handlers != nil }) else { break }
      handlers.receive(delivery)
    }
    return state.withLock { state in
      state.isDelivering = !state.outgoing.isEmpty
      return state.isDelivering
    }
  }

  /// Takes acknowledged deliveries out of the window.
  ///
  /// - Returns: Whether there is room again after the window was full, and whether it is time to move the cursor.
  func acknowledged(_ numbers: [Int64]) -> (hasRoom: Bool, isTrailLong: Bool) {
    state.withLock { $0.window.acknowledged(numbers) }
  }

  // MARK: The end

  func end(_ error: MessagingServiceError?) {
    let handlers = state.withLock { $0.handlers.take() }
    handlers?.end(error)
  }

  func silence() {
    let handlers = state.withLock { $0.handlers.take() }
    withExtendedLifetime(handlers) {}
  }
}
