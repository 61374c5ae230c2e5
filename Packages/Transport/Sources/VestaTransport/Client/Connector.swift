import VestaTransportInterop

/// Opens a connection to the first address of a host that takes one (RFC 8305): the next one is tried when the one
/// before fails or has not answered for a moment, and the first that succeeds wins.
///
/// Confined to its loop; the name is looked up on a thread of its own, because the system's look-up blocks.
// Sound as @unchecked Sendable: it is handed to the thread of the look-up and back, and touched on the loop alone.
final class Connector: @unchecked Sendable {
  typealias Completion = (Result<Int32, TransportError>) -> Void

  private let loop: EventLoop
  private let host: String
  private let port: Int
  private var completion: Completion?
  private var addresses: [SocketAddress] = []
  private var attempts: [Attempt] = []
  private var lastError = "no answer"

  /// - Parameter completion: Called once, on the loop.
  init(_ loop: EventLoop, host: String, port: Int, completion: @escaping Completion) {
    self.loop = loop
    self.host = host
    self.port = port
    self.completion = completion
  }

  func start() {
    if let address = SocketAddress(host: host, port: port) { return found([address]) }
    let isStarted = PlatformThread.start { [self, host, port] in
      let found = SocketAddress.lookUp(host, port: port)
      loop.perform { self.found(found) }
    }
    if !isStarted {
      finish(.failure(TransportError(.exhausted, "There are no threads left.", mayHaveBeenProcessed: false)))
    }
  }

  private func found(_ addresses: [SocketAddress]) {
    guard !addresses.isEmpty else {
      return finish(
        .failure(TransportError(.hostNotFound, "There is no address of \(host).", mayHaveBeenProcessed: false)))
    }
    self.addresses = addresses
    loop.schedule(after: loop.tuning.connectTimeout) { [self] in
      lastError = "no answer within \(loop.tuning.connectTimeout)"
      addressesExhausted()
    }
    tryNext()
  }

  private func tryNext() {
    guard completion != nil, !addresses.isEmpty else { return }
    let address = addresses.removeFirst()
    switch PlatformSocket.connect(to: address) {
    case .failure(let error):
      lastError = error.text
      failedOne()
    case .success(let descriptor):
      let attempt = Attempt(descriptor, self)
      attempts.append(attempt)
      guard loop.add(attempt, .writable) else {
        attempt.isWatched = false
        return ended(attempt, error: "the system watches no more sockets")
      }
      loop.schedule(after: loop.tuning.attemptDelay) { [weak self] in self?.tryNext() }
    }
  }

  fileprivate func ended(_ attempt: Attempt, error: String?) {
    attempts.removeAll { $0 === attempt }
    if attempt.isWatched { loop.remove(attempt) }
    guard let error else { return finish(.success(attempt.descriptor)) }
    PlatformSocket.close(attempt.descriptor)
    lastError = error
    failedOne()
  }

  private func failedOne() {
    if addresses.isEmpty { if attempts.isEmpty { addressesExhausted() } } else { tryNext() }
  }

  private func addressesExhausted() {
    finish(
      .failure(
        TransportError(.cannotConnect, "Cannot connect to \(host):\(port): \(lastError).", mayHaveBeenProcessed: false))
    )
  }

  private func finish(_ outcome: Result<Int32, TransportError>) {
    guard let completion else { return }
    self.completion = nil
    addresses = []
    for attempt in attempts {
      loop.remove(attempt)
      PlatformSocket.close(attempt.descriptor)
    }
    attempts = []
    completion(outcome)
  }
}

/// One connection that is being opened.
private final class Attempt: Channel {
  private let connector: Connector
  var isWatched = true

  init(_ descriptor: Int32, _ connector: Connector) {
    self.connector = connector
    super.init(descriptor)
  }

  override func ready(_ events: PlatformPoll.Interest) {
    connector.ended(self, error: PlatformSocket.connectError(descriptor))
  }
}
