import VestaConcurrency
import VestaMessagingBackend

/// One connection of a registration: the deliveries that are under way, one call at a time.
final class Session: Sendable {
  let key: RegistrationKey
  let platform: String
  let token: String

  private struct Handlers: Sendable {
    var receive: @Sendable (PushDelivery) -> Void
    var end: @Sendable (MessagingServiceError?) -> Void
  }

  private struct State {
    var handlers: Handlers?
    var outgoing: [PushDelivery] = []
    var isDelivering = false
    /// Deliveries without their acknowledgement, by the number of the message; whether it is one for many.
    var inFlight: [Int64: Bool] = [:]
    /// Up to which message everything for this registration was delivered.
    var position: Int64 = 0
    var isPumping = false
    var pumpsAgain = false
  }

  private let window: Int
  private let state: Locked<State>

  init(
    key: RegistrationKey, platform: String, token: String, window: Int,
    onEnd: @escaping @Sendable (MessagingServiceError?) -> Void, receive: @escaping @Sendable (PushDelivery) -> Void
  ) {
    (self.key, self.platform, self.token, self.window) = (key, platform, token, window)
    state = Locked(State(handlers: Handlers(receive: receive, end: onEnd)))
  }

  var position: Int64 { state.withLock { $0.position } }
  var inFlight: Set<Int64> { state.withLock { Set($0.inFlight.keys) } }
  var hasBroadcastsInFlight: Bool { state.withLock { $0.inFlight.values.contains(true) } }
  var freeWindow: Int { state.withLock { max(0, window - $0.inFlight.count) } }

  // MARK: Pumping

  /// Whether the caller is the one who loads what waits; another one that is at it goes round again.
  func beginPump() -> Bool {
    state.withLock { state in
      guard !state.isPumping else {
        state.pumpsAgain = true
        return false
      }
      state.isPumping = true
      return true
    }
  }

  /// Whether the pump stops here.
  func endPump() -> Bool {
    state.withLock { state in
      if state.pumpsAgain {
        state.pumpsAgain = false
        return false
      }
      state.isPumping = false
      return true
    }
  }

  func advance(to number: Int64) { state.withLock { $0.position = max($0.position, number) } }

  // MARK: Delivering

  /// Delivers a message, unless it is under way already; answers false when the window is full.
  func deliver(_ delivery: PushDelivery, number: Int64, isBroadcast: Bool) -> Bool {
    let (isTaken, begins) = state.withLock { state in
      guard state.handlers != nil, state.inFlight[number] == nil else { return (true, false) }
      guard state.inFlight.count < window else { return (false, false) }
      state.inFlight[number] = isBroadcast
      state.outgoing.append(delivery)
      defer { state.isDelivering = true }
      return (true, !state.isDelivering)
    }
    if begins { drain() }
    return isTaken
  }

  private func drain() {
    while true {
      let (handlers, deliveries) = state.withLock { state in
        let deliveries = state.outgoing
        state.outgoing = []
        if deliveries.isEmpty { state.isDelivering = false }
        return (state.handlers, deliveries)
      }
      guard !deliveries.isEmpty else { return }
      for delivery in deliveries {
        // Looked at each time: a delivery may have cancelled the connection.
        guard let handlers, state.withLock({ $0.handlers != nil }) else { break }
        handlers.receive(delivery)
      }
    }
  }

  /// Takes acknowledged deliveries out of the window; answers whether it was at least half full before.
  func acknowledged(_ numbers: [Int64]) -> Bool {
    state.withLock { state in
      let wasFull = state.inFlight.count >= window
      for number in numbers { state.inFlight[number] = nil }
      return wasFull && state.inFlight.count < window
    }
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
