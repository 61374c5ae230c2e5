import VestaConcurrency
import VestaMessagingBackend

/// One connection of a registration: the deliveries that are under way, one call at a time.
///
/// Its receiver is called on a lane of threads that no task runs on: one that blocks delays no other.
final class Session: Sendable {
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
    var outgoing: [PushDelivery] = []
    var isDelivering = false
    /// Deliveries without their acknowledgement, by the number of the message; whether it is one for many.
    var inFlight: [Int64: Bool] = [:]
    /// The messages that the dispatcher is about to deliver.
    var announced: [Int64: Bool] = [:]
    /// Up to which message everything for this registration was delivered.
    var position: Int64 = 0
    /// The number of messages for many that were acknowledged since the cursor was moved.
    var acknowledgedBroadcasts = 0
    /// The number of dropped messages that the next delivery tells of.
    var dropped: Int64 = 0
    var isPumping = false
    var pumpsAgain = false
  }

  private let window: Int
  private let longestTrail: Int
  private let lane = BlockingLane()
  private let state: Locked<State>

  init(
    key: RegistrationKey, platform: String, token: String, startNumber: Int64, window: Int,
    longestTrail: Int = MessagingServiceTuning().longestTrail,
    onEnd: @escaping @Sendable (MessagingServiceError?) -> Void, receive: @escaping @Sendable (PushDelivery) -> Void
  ) {
    (self.key, self.platform, self.token) = (key, platform, token)
    (self.startNumber, self.window, self.longestTrail) = (startNumber, window, longestTrail)
    state = Locked(State(handlers: Handlers(receive: receive, end: onEnd)))
  }

  /// Whether the handlers are still called.
  var isLive: Bool { state.withLock { $0.handlers != nil } }
  var position: Int64 { state.withLock { $0.position } }
  var freeWindow: Int { state.withLock { max(0, window - $0.inFlight.count) } }

  // MARK: Pumping

  /// Whether the caller is the one that loads waiting messages; another one that does so repeats its round.
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

  /// Has the next delivery tell of messages that were dropped.
  func noteDropped(_ count: Int64) { state.withLock { $0.dropped += count } }

  /// The messages that are under way, and the ones for many among them, in order.
  var underWay: (all: Set<Int64>, broadcasts: [Int64]) {
    let all = state.withLock { $0.inFlight.merging($0.announced) { first, _ in first } }
    return (Set(all.keys), all.filter(\.value).keys.sorted())
  }

  /// Notes down that the dispatcher is about to deliver a message: a read that begins in between takes it for one that
  /// is under way.
  func announce(_ number: Int64, isBroadcast: Bool) { state.withLock { $0.announced[number] = isBroadcast } }

  /// The dispatcher does not deliver the message after all.
  func withdraw(_ number: Int64) { state.withLock { $0.announced[number] = nil } }

  func advance(to number: Int64) { state.withLock { $0.position = max($0.position, number) } }

  // MARK: Delivering

  /// The outcome of a delivery.
  enum Outcome { case delivered, superfluous, windowIsFull }

  /// Delivers a message, later, unless it is under way already.
  func deliver(_ delivery: PushDelivery, number: Int64, isBroadcast: Bool) -> Outcome {
    let (outcome, begins) = state.withLock { state -> (Outcome, Bool) in
      state.announced[number] = nil
      guard state.handlers != nil, state.inFlight[number] == nil else { return (.superfluous, false) }
      guard state.inFlight.count < window else { return (.windowIsFull, false) }
      state.inFlight[number] = isBroadcast
      var delivery = delivery
      delivery.droppedBefore = Int(state.dropped)
      state.dropped = 0
      state.outgoing.append(delivery)
      defer { state.isDelivering = true }
      return (.delivered, !state.isDelivering)
    }
    if begins { lane.async { self.drain() } }
    return outcome
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

  /// Takes acknowledged deliveries out of the window.
  ///
  /// - Returns: Whether there is room again after the window was full, and whether it is time to move the cursor.
  func acknowledged(_ numbers: [Int64]) -> (hasRoom: Bool, isTrailLong: Bool) {
    state.withLock { state in
      let wasFull = state.inFlight.count >= window
      for number in numbers where state.inFlight.removeValue(forKey: number) == true {
        state.acknowledgedBroadcasts += 1
      }
      let isTrailLong = state.acknowledgedBroadcasts >= longestTrail
      if isTrailLong { state.acknowledgedBroadcasts = 0 }
      return (wasFull && state.inFlight.count < window, isTrailLong)
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
