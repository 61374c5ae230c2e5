import VestaTransportInterop

/// Returns the addresses of a name and a port, in the order in which to try them; it may block.
typealias NameLookUp = @Sendable (_ host: String, _ port: Int) -> [SocketAddress]

/// Opens a connection to the first address of a host that takes one, as ``AddressRace`` decides.
///
/// Confined to its loop; the name is looked up on a dedicated thread, because the system's look-up blocks.
// Sound as @unchecked Sendable: it is handed to the thread of the look-up and back, and touched on the loop alone.
final class Connector: @unchecked Sendable {
  typealias Completion = (Result<Int32, TransportError>) -> Void

  private let isPublic: Bool
  private let lookUp: NameLookUp
  private let loop: EventLoop
  private let host: String
  private let port: Int
  private var completion: Completion?
  private var race = AddressRace(count: 0)
  private var addresses: [SocketAddress] = []
  private var attempts: [Int: Attempt] = [:]
  private var timers: [LoopTimer] = []
  private var lastError = "no answer"
  /// Whether an attempt has failed for want of descriptors.
  private var isExhausted = false

  /// - Parameters:
  ///   - isPublic: Whether only addresses of the public internet are connected to.
  ///   - lookUp: Returns the addresses of a name.
  ///   - completion: Called once, on the loop.
  init(
    _ loop: EventLoop, host: String, port: Int, isPublic: Bool, _ lookUp: @escaping NameLookUp,
    completion: @escaping Completion
  ) {
    self.isPublic = isPublic
    self.lookUp = lookUp
    self.loop = loop
    self.host = host
    self.port = port
    self.completion = completion
  }

  func start() {
    if let address = SocketAddress(host: host, port: port) { return found([address]) }
    let isStarted = PlatformThread.start { [self, lookUp, host, port] in
      let found = lookUp(host, port)
      loop.perform { self.found(found) }
    }
    if !isStarted {
      finish(.failure(TransportError(.exhausted, "There are no threads left.", mayHaveBeenProcessed: false)))
    }
  }

  private func found(_ addresses: [SocketAddress]) {
    guard !addresses.isEmpty else {
      if PlatformSocket.isOutOfDescriptors { return finish(.failure(exhausted)) }
      return finish(
        .failure(TransportError(.hostNotFound, "There is no address of \(host).", mayHaveBeenProcessed: false)))
    }
    // The addresses that are connected to, and not the addresses of an earlier look-up, which may differ.
    let addresses = isPublic ? addresses.filter { InternetAddress.isPublic($0.bytes) } : addresses
    guard !addresses.isEmpty else { return finish(.failure(forbidden)) }
    self.addresses = addresses
    timers.append(
      loop.schedule(after: loop.tuning.connectTimeout) { [weak self] in
        guard let self else { return }
        lastError = "no answer within \(loop.tuning.connectTimeout)"
        perform(race.timedOut())
      })
    race = AddressRace(count: addresses.count)
    perform(race.begin())
  }

  private func perform(_ actions: [AddressRace.Action]) {
    for action in actions {
      switch action {
      case .attempt(let index): attempt(index)
      case .startDelay(let number): startDelay(number)
      case .giveUp(let index):
        guard let attempt = attempts.removeValue(forKey: index) else { continue }
        loop.remove(attempt)
        PlatformSocket.close(attempt.descriptor)
      case .win(let index):
        guard let attempt = attempts.removeValue(forKey: index) else { continue }
        finish(.success(attempt.descriptor))
      case .fail:
        let failed = TransportError(
          .cannotConnect, "Cannot connect to \(host):\(port): \(lastError).", mayHaveBeenProcessed: false)
        finish(.failure(isExhausted ? exhausted : failed))
      }
    }
  }

  private func startDelay(_ number: Int) {
    timers.append(
      loop.schedule(after: loop.tuning.attemptDelay) { [weak self] in
        guard let self else { return }
        perform(race.delayPassed(number))
      })
  }

  private func attempt(_ index: Int) {
    switch PlatformSocket.connect(to: addresses[index]) {
    case .failure(let error):
      isExhausted = isExhausted || error.isExhausted
      failedLater(index, error.text)
    case .success(let descriptor):
      let attempt = Attempt(descriptor, index, self)
      guard loop.add(attempt, .writable) else {
        PlatformSocket.close(descriptor)
        isExhausted = true
        return failedLater(index, "the system watches no more sockets")
      }
      attempts[index] = attempt
    }
  }

  /// In a separate turn, so that the actions that belong together are performed before.
  ///
  /// The closure holds this object, as no attempt does: without it a host whose addresses fail at once would be
  /// answered by the time-out of the request alone.
  private func failedLater(_ index: Int, _ error: String) {
    lastError = error
    timers.append(loop.schedule(after: .zero) { [self] in perform(race.failed(index)) })
  }

  fileprivate func ended(_ attempt: Attempt, error: String?) {
    loop.remove(attempt)
    guard let error else { return perform(race.succeeded(attempt.index)) }
    attempts[attempt.index] = nil
    PlatformSocket.close(attempt.descriptor)
    lastError = error
    perform(race.failed(attempt.index))
  }

  private var forbidden: TransportError {
    TransportError(
      .forbiddenAddress, "The host \(host) has no address of the public internet.", mayHaveBeenProcessed: false)
  }

  private var exhausted: TransportError {
    TransportError(
      .exhausted,
      "There is no descriptor for a connection to \(host):\(port). Close some, or raise the limit of open files.",
      mayHaveBeenProcessed: false)
  }

  private func finish(_ outcome: Result<Int32, TransportError>) {
    guard let completion = completion.take() else { return }
    timers.forEach(loop.cancel)
    timers = []
    completion(outcome)
  }
}

/// One connection that is being opened.
private final class Attempt: Channel {
  private let connector: Connector
  let index: Int

  init(_ descriptor: Int32, _ index: Int, _ connector: Connector) {
    self.connector = connector
    self.index = index
    super.init(descriptor)
  }

  override func ready(_ events: PlatformPoll.Interest) {
    connector.ended(self, error: PlatformSocket.connectError(descriptor))
  }
}
