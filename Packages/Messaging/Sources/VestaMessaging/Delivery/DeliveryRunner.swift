import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Keeps the connection while there are a token and listeners, hands over what arrives, and acknowledges it.
///
/// Messages are acknowledged together: while one acknowledgement is under way, the next ones are gathered. One that
/// fails for the moment is tried again: the service delivers a limited number of messages without it.
final class DeliveryRunner: Sendable {
  private struct State {
    var token: String?
    var connection: ListenerRegistration?
    /// The number of the connection: what an earlier one still reports is ignored.
    var generation = 0
    var timer: ListenerRegistration?
    var failures = 0
    var unacknowledged: [String] = []
    var isAcknowledging = false
    var failedAcknowledgements = 0
    var acknowledgementTimer: ListenerRegistration?
    /// Called with a token that the service does not know any more.
    var onUnregistered: (@Sendable (String) -> Void)?
    /// The ids of messages that were handed over; what comes again is acknowledged and not handed over again.
    var handedOver: Set<String> = []
    var order: [String] = []
    var isOver = false
  }

  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let listeners = StateSource<Void, MessagingRemoteMessage>(())
  private let state = Locked(State())

  private static let rememberedMessages = 10_000

  init(backend: any MessagingBackend, clock: ServiceClock) {
    self.backend = backend
    self.clock = clock
  }

  var listenerCount: Int { listeners.listenerCount }

  func add(
    onEnd: @escaping @Sendable () -> Void, _ listener: @escaping @Sendable (MessagingRemoteMessage) -> Void
  ) -> ListenerRegistration {
    let registration = listeners.add(onEnd: onEnd, listener)
    update()
    return ListenerRegistration { [weak self] in
      registration.cancel()
      self?.update()
    }
  }

  /// Has a closure called with each token that the service does not know any more.
  func whenUnregistered(_ handler: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.onUnregistered = handler }
  }

  func setToken(_ token: String?) {
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
    let (timers, handler) = state.withLock { state in
      state.isOver = true
      return ([state.timer.take(), state.acknowledgementTimer.take()], state.onUnregistered.take())
    }
    for timer in timers { timer?.cancel() }
    withExtendedLifetime(handler) {}
    update()
    listeners.finish()
  }

  // MARK: The connection

  /// Opens or closes the connection, as listeners and token want it.
  private func update() {
    let isWanted = listeners.listenerCount > 0
    let (opens, closing) = state.withLock { state -> ((String, Int)?, ListenerRegistration?) in
      guard isWanted, !state.isOver, let token = state.token else {
        state.generation += 1
        return (nil, state.connection.take())
      }
      guard state.connection == nil, state.timer == nil else { return (nil, nil) }
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
      return (min(60_000, 1000 << Int64(min(state.failures - 1, 6))), nil)
    }
    refused?()
    guard let pause else { return }
    let timer = clock.schedule(after: .milliseconds(pause)) { [weak self] in
      self?.state.withLock { $0.timer = nil }
      self?.update()
    }
    state.withLock { $0.timer = timer }
  }

  // MARK: Messages

  private func received(_ delivery: PushDelivery, _ generation: Int) {
    // Between the end of the last stream and that of the connection nobody is there to be given a message: it waits.
    guard listeners.listenerCount > 0 else { return }
    let (isCurrent, isNew) = state.withLock { state -> (Bool, Bool) in
      guard state.generation == generation else { return (false, false) }
      state.failures = 0
      guard state.handedOver.insert(delivery.messageID).inserted else { return (true, false) }
      state.order.append(delivery.messageID)
      if state.order.count > Self.rememberedMessages { state.handedOver.remove(state.order.removeFirst()) }
      return (true, true)
    }
    guard isCurrent else { return }
    if isNew {
      let message = MessagingRemoteMessage(delivery)
      listeners.change { _, announce in announce(message) }
    }
    acknowledge([delivery.messageID])
  }

  private func acknowledge(_ ids: [String]) {
    let begins = state.withLock { state in
      state.unacknowledged += ids
      guard !state.unacknowledged.isEmpty, !state.isAcknowledging, !state.isOver else { return false }
      state.isAcknowledging = true
      return true
    }
    if begins { Task { await acknowledgeGathered() } }
  }

  private func acknowledgeGathered() async {
    while let (token, ids) = gathered() {
      do {
        try await backend.acknowledge(token: token, messageIDs: ids, context: CallContext())
        state.withLock { $0.failedAcknowledgements = 0 }
      } catch {
        // Refused ones are delivered again at the next connection, and recognised by their ids then.
        if Self.isTransient(error.code) { return acknowledgeLater(ids) }
      }
    }
  }

  private static func isTransient(_ code: ServiceCode) -> Bool {
    switch code {
    case .unavailable, .deadlineExceeded, .aborted, .resourceExhausted, .internal, .cancelled, .unknown: true
    default: false
    }
  }

  /// Tries again after a pause, which doubles up to a minute.
  private func acknowledgeLater(_ ids: [String]) {
    let pause = state.withLock { state in
      state.unacknowledged = ids + state.unacknowledged
      state.isAcknowledging = false
      state.failedAcknowledgements += 1
      return min(60_000, 1000 << Int64(min(state.failedAcknowledgements - 1, 6)))
    }
    let timer = clock.schedule(after: .milliseconds(pause)) { [weak self] in self?.acknowledge([]) }
    let earlier = state.withLock { state in
      defer { state.acknowledgementTimer = timer }
      return state.acknowledgementTimer
    }
    earlier?.cancel()
  }

  private func gathered() -> (String, [String])? {
    state.withLock { state in
      guard !state.unacknowledged.isEmpty, let token = state.token else {
        state.isAcknowledging = false
        return nil
      }
      let ids = Array(state.unacknowledged.prefix(500))
      state.unacknowledged.removeFirst(ids.count)
      return (token, ids)
    }
  }
}
