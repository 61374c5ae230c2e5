import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Keeps the connection while there are a token and listeners, hands over what arrives, and acknowledges it.
///
/// A message is acknowledged when a listener has been called with it: one that arrives while the last listener leaves
/// is not, and the service delivers it again. When one of several leaves, the messages that nobody was called with are
/// announced again to those that stay; the earlier announcement is void, so that no listener is called twice.
final class DeliveryRunner: Sendable {
  private struct State {
    var token: String?
    /// How many listeners there are: counted here, so that the connection is opened and closed in the order in which
    /// they come and go.
    var listeners = 0
    var connection: ListenerRegistration?
    /// The number of the connection: what an earlier one still reports is ignored.
    var generation = 0
    /// Whether the connection waits for the end of a pause, and the timer that ends it.
    var isPaused = false
    var timer: ListenerRegistration?
    var failures = 0
    /// Called with a token that the service does not know any more.
    var onUnregistered: (@Sendable (String) -> Void)?
    /// The messages that no listener was called with yet, by their ids.
    var arriving: [String: Arrival] = [:]
    var lastArrival = 0
    /// The messages that were handed over, and by which announcement; what comes again is acknowledged and not handed
    /// over again.
    var handedOver: [String: Int] = [:]
    /// The same ids as a ring, the oldest at `oldest` once it is full.
    var order: [String] = []
    var oldest = 0
    var isOver = false

    /// Notes down a message that was handed over, in place of the oldest one when there are too many.
    mutating func remember(_ id: String, _ number: Int) {
      handedOver[id] = number
      if order.count < DeliveryRunner.rememberedMessages {
        order.append(id)
      } else {
        handedOver[order[oldest]] = nil
        order[oldest] = id
        oldest = (oldest + 1) % DeliveryRunner.rememberedMessages
      }
    }
  }

  /// One announcement of a message.
  private struct Arrival: Sendable {
    var message: MessagingRemoteMessage
    var number: Int
  }

  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let acknowledgements: AcknowledgementRunner
  private let listeners = StateSource<Void, Arrival>(())
  private let state = Locked(State())

  private static let rememberedMessages = 10_000

  init(backend: any MessagingBackend, clock: ServiceClock) {
    self.backend = backend
    self.clock = clock
    acknowledgements = AcknowledgementRunner(backend: backend, clock: clock)
  }

  var listenerCount: Int { listeners.listenerCount }

  func add(
    onEnd: @escaping @Sendable () -> Void, _ listener: @escaping @Sendable (MessagingRemoteMessage) -> Void
  ) -> ListenerRegistration {
    let registration = listeners.add(onEnd: onEnd) { [weak self] arrival in
      guard let self, let isFirst = handOver(arrival) else { return }
      listener(arrival.message)
      if isFirst { acknowledgements.add([arrival.message.messageID]) }
    }
    state.withLock { $0.listeners += 1 }
    update()
    return ListenerRegistration { [weak self] in
      registration.cancel()
      self?.listenerHasLeft()
    }
  }

  /// Announces again what may have been on its way to the listener alone.
  private func listenerHasLeft() {
    state.withLock { $0.listeners -= 1 }
    update()
    listeners.change { _, announce in
      let arrivals = state.withLock { state in
        for arrival in state.arriving.values.sorted(by: { $0.number < $1.number }) {
          state.lastArrival += 1
          state.arriving[arrival.message.messageID]?.number = state.lastArrival
        }
        return state.arriving.values.sorted { $0.number < $1.number }
      }
      for arrival in arrivals { announce(arrival) }
    }
  }

  /// Has a closure called with each token that the service does not know any more.
  func whenUnregistered(_ handler: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.onUnregistered = handler }
  }

  func setToken(_ token: String?) {
    acknowledgements.setToken(token)
    let earlier = state.withLock { state -> ListenerRegistration? in
      guard state.token != token else { return nil }
      state.token = token
      state.generation += 1
      return state.connection.take()
    }
    earlier?.cancel()
    update()
  }

  func end() {
    let (timer, handler) = state.withLock { state in
      state.isOver = true
      return (state.timer.take(), state.onUnregistered.take())
    }
    timer?.cancel()
    acknowledgements.end()
    withExtendedLifetime(handler) {}
    update()
    listeners.finish()
  }

  // MARK: The connection

  /// Opens or closes the connection, as listeners and token want it.
  private func update() {
    let (opens, closing) = state.withLock { state -> ((String, Int)?, ListenerRegistration?) in
      guard state.listeners > 0, !state.isOver, let token = state.token else {
        state.generation += 1
        if state.listeners == 0 { state.arriving = [:] }
        return (nil, state.connection.take())
      }
      guard state.connection == nil, !state.isPaused else { return (nil, nil) }
      state.generation += 1
      // A place holder, so that nobody else connects at the same time.
      state.connection = ListenerRegistration {}
      return ((token, state.generation), nil)
    }
    closing?.cancel()
    if let (token, generation) = opens { connect(token, generation) }
  }

  private func connect(_ token: String, _ generation: Int) {
    let connection = backend.connect(token: token, context: CallContext()) { [weak self] error in
      self?.connectionEnded(error, generation)
    } _: { [weak self] delivery in
      self?.received(delivery, generation)
    }
    let isLate = state.withLock { state in
      guard state.generation == generation else { return true }
      if state.connection != nil { state.connection = connection }
      return false
    }
    if isLate { connection.cancel() }
  }

  /// Connects again after a pause, which doubles up to a minute; not for a token that is not registered any more.
  private func connectionEnded(_ error: MessagingServiceError?, _ generation: Int) {
    let (pause, refused) = state.withLock { state -> (Int64?, (@Sendable () -> Void)?) in
      guard state.generation == generation, !state.isOver else { return (nil, nil) }
      state.connection = nil
      if error?.reason == .unregistered, let token = state.token, let handler = state.onUnregistered {
        return (nil, { handler(token) })
      }
      guard error?.reason != .unregistered, error?.code != .aborted else { return (nil, nil) }
      state.failures += 1
      state.isPaused = true
      return (min(60_000, 1000 << Int64(min(state.failures - 1, 6))), nil)
    }
    refused?()
    guard let pause else { return }
    let timer = clock.schedule(after: .milliseconds(pause)) { [weak self] in
      self?.state.withLock { $0.isPaused = false }
      self?.update()
    }
    // A timer that has fired already stays here until the next one: only the flag says whether there is a pause.
    let isLate = state.withLock { state in
      state.timer = timer
      return state.isOver
    }
    if isLate { timer.cancel() }
  }

  // MARK: Messages

  private func received(_ delivery: PushDelivery, _ generation: Int) {
    let message = MessagingRemoteMessage(delivery)
    let isRepeated = listeners.change { _, announce in
      let (arrival, isRepeated) = state.withLock { state -> (Arrival?, Bool) in
        guard state.generation == generation else { return (nil, false) }
        state.failures = 0
        if state.handedOver[message.messageID] != nil { return (nil, true) }
        guard state.arriving[message.messageID] == nil else { return (nil, false) }
        state.lastArrival += 1
        let arrival = Arrival(message: message, number: state.lastArrival)
        state.arriving[message.messageID] = arrival
        return (arrival, false)
      }
      if let arrival { announce(arrival) }
      return isRepeated
    }
    if isRepeated { acknowledgements.add([message.messageID]) }
  }

  /// Hands a message over to a listener that is about to be called.
  ///
  /// - Returns: Whether the listener is the first one; `nil` when the announcement is void.
  private func handOver(_ arrival: Arrival) -> Bool? {
    let id = arrival.message.messageID
    return state.withLock { state in
      if let earlier = state.handedOver[id] { return earlier == arrival.number ? false : nil }
      guard state.arriving[id]?.number == arrival.number else { return nil }
      state.arriving[id] = nil
      state.remember(id, arrival.number)
      return true
    }
  }
}
