import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Keeps the connection while there are a token and loops over the messages, and hands over what arrives.
///
/// A message is acknowledged when its loop has come back for the next one, or was left: see ``DeliveryBook``. The
/// service delivers a limited number of messages without their acknowledgement, which bounds what waits here.
final class DeliveryRunner: Sendable {
  typealias Reader = DeliveryBook.Reader

  private struct State {
    var token: String?
    var book: DeliveryBook
    /// The loops that wait for a message.
    var turns: [Reader: Turn<MessagingRemoteMessage?>] = [:]
    var connection: ListenerRegistration?
    /// The number of the connection: what an earlier one still reports is ignored.
    var generation = 0
    /// Whether the connection waits for the end of a pause, and the timer that ends it.
    var isPaused = false
    var timer: ListenerRegistration?
    var failures = 0
    var handlers: Handlers?
    var isOver = false
  }

  private struct Handlers: Sendable {
    /// Called with a token that the service does not know any more.
    var unregistered: @Sendable (String) -> Void
    /// Called with the number of messages that the service has dropped.
    var dropped: @Sendable (Int) -> Void
  }

  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let tuning: MessagingTuning
  private let acknowledgements: AcknowledgementRunner
  private let state: Locked<State>

  init(backend: any MessagingBackend, clock: ServiceClock, tuning: MessagingTuning = MessagingTuning()) {
    self.backend = backend
    self.clock = clock
    self.tuning = tuning
    acknowledgements = AcknowledgementRunner(backend: backend, clock: clock, tuning: tuning)
    state = Locked(State(book: DeliveryBook(rememberedMessages: tuning.rememberedMessages)))
  }

  /// The number of loops over the messages.
  var listenerCount: Int { state.withLock { $0.book.readerCount } }

  /// The number of messages that have arrived and were taken by no loop.
  var waitingCount: Int { state.withLock { $0.book.waitingCount } }

  // MARK: Loops

  /// Adds a loop; `nil` after the end.
  func addReader() -> Reader? {
    let reader = state.withLock { $0.isOver ? nil : $0.book.addReader() }
    update()
    return reader
  }

  /// Acknowledges the message that a loop has taken before, and waits for its next one.
  ///
  /// - Returns: `nil` at the end, and for a cancelled task.
  func next(_ reader: Reader) async -> MessagingRemoteMessage? {
    acknowledgements.add(state.withLock { $0.book.cameBack(reader) })
    do {
      return try await Turn<MessagingRemoteMessage?>().wait { turn in
        let isOver = state.withLock { state in
          let isOver = state.isOver || !state.book.has(reader)
          if !isOver { state.turns[reader] = turn }
          return isOver
        }
        if isOver { turn.begin()?.resume(returning: nil) } else { handOver() }
      }
    } catch {
      leave(reader)
      return nil
    }
  }

  /// Removes a loop that was left.
  func leave(_ reader: Reader) {
    let (ids, turn) = state.withLock { ($0.book.left(reader), $0.turns.removeValue(forKey: reader)) }
    acknowledgements.add(ids)
    turn?.begin()?.resume(returning: nil)
    update()
    handOver()
  }

  /// Gives messages to the loops that wait for one.
  private func handOver() {
    let served = state.withLock { state -> [(Turn<MessagingRemoteMessage?>.Continuation, MessagingRemoteMessage)] in
      state.book.ready.compactMap { reader in
        // The loop of a turn that was cancelled is about to leave: the message stays where it is.
        guard let turn = state.turns[reader], let continuation = turn.begin() else { return nil }
        state.turns[reader] = nil
        return state.book.take(reader).map { (continuation, $0) }
      }
    }
    for (continuation, message) in served { continuation.resume(returning: message) }
  }

  /// Sets who is notified of what the service says of the registration.
  ///
  /// - Parameters:
  ///   - unregistered: Called with a token that the service does not know any more.
  ///   - dropped: Called with the number of messages that the service has dropped.
  func observe(
    unregistered: @escaping @Sendable (String) -> Void, dropped: @escaping @Sendable (Int) -> Void
  ) {
    state.withLock { $0.handlers = Handlers(unregistered: unregistered, dropped: dropped) }
  }

  func setToken(_ token: String?) {
    acknowledgements.setToken(token)
    let earlier = state.withLock { state -> ListenerRegistration? in
      guard state.token != token else { return nil }
      state.token = token
      state.generation += 1
      if token == nil { state.book.giveBackAll() }
      return state.connection.take()
    }
    earlier?.cancel()
    update()
  }

  func end() {
    let (timer, handlers, turns) = state.withLock { state in
      state.isOver = true
      state.book.giveBackAll()
      defer { state.turns = [:] }
      return (state.timer.take(), state.handlers.take(), Array(state.turns.values))
    }
    timer?.cancel()
    acknowledgements.end()
    withExtendedLifetime(handlers) {}
    update()
    for turn in turns { turn.begin()?.resume(returning: nil) }
  }

  // MARK: The connection

  /// Opens or closes the connection, as loops and token want it.
  private func update() {
    let (opens, closing) = state.withLock { state -> ((String, Int)?, ListenerRegistration?) in
      guard state.book.readerCount > 0, !state.isOver, let token = state.token else {
        state.generation += 1
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
    let (pause, refused) = state.withLock { state -> (Duration?, (@Sendable () -> Void)?) in
      guard state.generation == generation, !state.isOver else { return (nil, nil) }
      state.connection = nil
      if error?.reason == .unregistered, let token = state.token, let handlers = state.handlers {
        return (nil, { handlers.unregistered(token) })
      }
      guard error?.reason != .unregistered, error?.code != .aborted else { return (nil, nil) }
      state.failures += 1
      state.isPaused = true
      return (tuning.pause(afterFailures: state.failures), nil)
    }
    refused?()
    guard let pause else { return }
    let timer = clock.schedule(after: pause) { [weak self] in
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

  private func received(_ delivery: PushDelivery, _ generation: Int) {
    let message = MessagingRemoteMessage(delivery)
    let (isRepeated, handlers) = state.withLock { state -> (Bool, Handlers?) in
      guard state.generation == generation else { return (false, nil) }
      state.failures = 0
      return (state.book.arrived(message), delivery.droppedBefore > 0 ? state.handlers : nil)
    }
    handlers?.dropped(delivery.droppedBefore)
    if isRepeated { acknowledgements.add([message.messageID]) }
    handOver()
  }
}
