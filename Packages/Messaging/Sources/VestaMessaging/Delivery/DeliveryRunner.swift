import VestaConcurrency
import VestaMessagingBackend
import VestaServiceInterop

/// Keeps the connection while there are a token and loops over the messages, and hands over what arrives.
///
/// A message is acknowledged when its loop has asked for the next one, or was left: see ``DeliveryBook``. The
/// service delivers a limited number of messages without their acknowledgement, which bounds what waits here.
final class DeliveryRunner: Sendable {
  typealias Reader = DeliveryBook.Reader

  private struct State {
    var token: String?
    var book: DeliveryBook
    /// The loops that wait for a message.
    var turns: [Reader: Turn<MessagingRemoteMessage?>] = [:]
    /// The number of the token's connection: deliveries of an earlier one are ignored.
    var epoch = 0
    var handlers: Handlers?
    var isOver = false

    var wantsConnection: Bool { book.readerCount > 0 && !isOver && token != nil }
  }

  private struct Handlers: Sendable {
    /// Called with a token that the service no longer knows.
    var unregistered: @Sendable (String) -> Void
    /// Called with the number of messages that the service has dropped.
    var dropped: @Sendable (Int) -> Void
  }

  private let backend: any MessagingBackend
  private let clock: ServiceClock
  private let tuning: MessagingTuning
  private let acknowledgements: AcknowledgementRunner
  private let state: Locked<State>
  private let link = Locked<LinkRunner?>(nil)

  init(backend: any MessagingBackend, clock: ServiceClock, tuning: MessagingTuning = MessagingTuning()) {
    self.backend = backend
    self.clock = clock
    self.tuning = tuning
    acknowledgements = AcknowledgementRunner(backend: backend, clock: clock, tuning: tuning)
    state = Locked(State(book: DeliveryBook(rememberedMessages: tuning.rememberedMessages)))
    let runner = LinkRunner(tuning.link, clock: clock) { [weak self] in self?.connect($0) ?? ListenerRegistration {} }
    link.withLock { $0 = runner }
  }

  /// Notes that the network is another one: the connection of before may lead nowhere, and a pause has lost its reason.
  func networkChanged() {
    let link = link.withLock { $0 }
    link?.networkChanged(isThere: false)
    link?.networkChanged(isThere: true)
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
    acknowledgements.add(state.withLock { $0.book.finishedCurrent(reader) })
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
  ///   - unregistered: Called with a token that the service no longer knows.
  ///   - dropped: Called with the number of messages that the service has dropped.
  func observe(
    unregistered: @escaping @Sendable (String) -> Void, dropped: @escaping @Sendable (Int) -> Void
  ) {
    state.withLock { $0.handlers = Handlers(unregistered: unregistered, dropped: dropped) }
  }

  func setToken(_ token: String?) {
    acknowledgements.setToken(token)
    guard state.withLock({ $0.token != token }) else { return }
    // The connection of the earlier token ends in the same step in which the token changes.
    link.withLock { $0 }?.setOpen {
      state.withLock { state in
        state.token = token
        state.epoch += 1
        if token == nil { state.book.giveBackAll() }
      }
      return false
    }
    update()
  }

  func end() {
    let (handlers, turns) = state.withLock { state in
      state.isOver = true
      state.epoch += 1
      state.book.giveBackAll()
      defer { state.turns = [:] }
      return (state.handlers.take(), Array(state.turns.values))
    }
    link.withLock { $0 }?.end()
    acknowledgements.end()
    withExtendedLifetime(handlers) {}
    for turn in turns { turn.begin()?.resume(returning: nil) }
  }

  // MARK: The connection

  /// Opens or closes the connection, as loops and token want it.
  private func update() {
    link.withLock { $0 }?.setOpen {
      state.withLock { state in
        if !state.wantsConnection { state.epoch += 1 }
        return state.wantsConnection
      }
    }
  }

  private func connect(_ connection: LinkRunner.Connection) -> ListenerRegistration {
    let (token, epoch) = state.withLock { ($0.token, $0.epoch) }
    guard let token else { return ListenerRegistration {} }
    return backend.connect(token: token, context: CallContext()) { [weak self] error in
      self?.connectionEnded(error, connection, epoch)
    } _: { [weak self] delivery in
      self?.received(delivery, connection, epoch)
    }
  }

  /// Reports the end: the link connects again after a pause, but not for a token that is not registered.
  private func connectionEnded(_ error: MessagingServiceError?, _ connection: LinkRunner.Connection, _ epoch: Int) {
    let isUnregistered = error?.reason == .unregistered
    let (token, handlers) = state.withLock { state -> (String?, Handlers?) in
      state.epoch == epoch ? (state.token, state.handlers) : (nil, nil)
    }
    // An end in order is no sign that the service is well: it is followed by the pauses of failures.
    connection.ended(isUnregistered ? .notFound : error?.code ?? .unavailable)
    if isUnregistered, let token { handlers?.unregistered(token) }
  }

  private func received(_ delivery: PushDelivery, _ connection: LinkRunner.Connection, _ epoch: Int) {
    guard connection.received() else { return }
    let message = MessagingRemoteMessage(delivery)
    let (isRepeated, handlers) = state.withLock { state -> (Bool, Handlers?) in
      guard state.epoch == epoch else { return (false, nil) }
      return (state.book.arrived(message), delivery.droppedBefore > 0 ? state.handlers : nil)
    }
    handlers?.dropped(delivery.droppedBefore)
    if isRepeated { acknowledgements.add([message.messageID]) }
    handOver()
  }
}
