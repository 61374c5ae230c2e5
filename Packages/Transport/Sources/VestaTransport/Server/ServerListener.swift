import Synchronization
import VestaConcurrency
import VestaTransportInterop

/// A listener on all loops, with its connections.
final class ServerListener: HTTPListener {
  private struct State: Sendable {
    var ended = Waiters()
    var isShuttingDown = false
  }

  let address: TransportAddress
  let handler: any HTTPHandler
  let tuning: TransportTuning
  /// How connections are encrypted; `nil` for a listener in clear.
  let security: TLSServerSecurity?
  private let loops: [EventLoop]
  private let connections = Atomic<Int>(0)
  private let acceptors = Atomic<Int>(0)
  private let state = Locked(State())

  init(
    address: TransportAddress, handler: any HTTPHandler, tuning: TransportTuning, security: TLSServerSecurity?,
    loops: [EventLoop]
  ) {
    self.security = security
    self.address = address
    self.handler = handler
    self.tuning = tuning
    self.loops = loops
  }

  /// The number of open connections.
  var connectionCount: Int { connections.load(ordering: .relaxed) }

  /// Whether one more connection may be opened.
  var hasRoom: Bool { connectionCount < tuning.connectionLimit }

  /// Whether connections end after the exchange that they are in.
  var isShuttingDown: Bool { state.withLock { $0.isShuttingDown } }

  func open(_ descriptors: [Int32]) async {
    acceptors.store(descriptors.count, ordering: .relaxed)
    await onEach { listener, index, loop in
      let acceptor = Acceptor(descriptors[index], listener, loop)
      if !loop.add(acceptor, .readable) { return acceptor.close() }
      if index == 0 { acceptor.watchCertificates() }
    }
  }

  func shutDown(within grace: Duration) async {
    state.withLock { $0.isShuttingDown = true }
    await onEach { listener, _, loop in
      loop.forEachChannel { channel in
        if let acceptor = channel as? Acceptor, acceptor.listener === listener { acceptor.close() }
        if let connection = channel as? ServerConnection, connection.listener === listener { connection.shutDown() }
        if let opening = channel as? ServerHandshake, opening.listener === listener { opening.cancel() }
      }
      let cutOff = {
        loop.forEachChannel { channel in
          if let connection = channel as? ServerConnection, connection.listener === listener { connection.abort() }
        }
      }
      if grace <= .zero { cutOff() } else { loop.schedule(after: grace, cutOff) }
    }
    await state.wait(in: \.ended) { _ in self.isOver }
  }

  private var isOver: Bool {
    connections.load(ordering: .acquiring) == 0 && acceptors.load(ordering: .acquiring) == 0
  }

  func hasOpened() { connections.add(1, ordering: .relaxed) }

  /// Notes the end of a connection.
  func hasClosed() {
    connections.subtract(1, ordering: .acquiringAndReleasing)
    endIfOver()
  }

  func hasClosedAcceptor() {
    acceptors.subtract(1, ordering: .acquiringAndReleasing)
    endIfOver()
  }

  private func endIfOver() {
    guard isOver else { return }
    state.withLock { $0.ended.takeAll() }.resume()
  }

  /// Runs a closure on each loop, and waits until all have.
  private func onEach(_ body: @escaping @Sendable (ServerListener, Int, EventLoop) -> Void) async {
    for (index, loop) in loops.enumerated() {
      await withCheckedContinuation { continuation in
        let isRunning = loop.perform {
          body(self, index, loop)
          continuation.resume()
        }
        if !isRunning { continuation.resume() }
      }
    }
  }
}

/// Accepts the connections of a listener on one loop.
final class Acceptor: Channel {
  let listener: ServerListener
  private let loop: EventLoop
  /// Given up for a moment when there is no other descriptor, so that a connection can be accepted and closed.
  private var spare = PlatformSocket.spare()
  private var isPaused = false
  private var isClosed = false

  init(_ descriptor: Int32, _ listener: ServerListener, _ loop: EventLoop) {
    self.listener = listener
    self.loop = loop
    super.init(descriptor)
  }

  override func ready(_ events: PlatformPoll.Interest) {
    for _ in 0..<listener.tuning.acceptsPerTurn {
      guard listener.hasRoom else { return pause() }
      let descriptor = PlatformSocket.accept(self.descriptor)
      if descriptor >= 0 {
        open(descriptor)
      } else if PlatformSocket.isExhausted(-descriptor) {
        return refuseOne()
      } else if PlatformSocket.isNothingToAccept(-descriptor) {
        return
      }
      // Any other error concerns one connection, which has ended.
    }
  }

  private func open(_ descriptor: Int32) {
    PlatformSocket.sendAtOnce(descriptor)
    if let security = listener.security { return secure(descriptor, security) }
    let connection = ServerConnection(descriptor, listener, loop)
    listener.hasOpened()
    if !loop.add(connection, [.readable, .finished]) {
      PlatformSocket.close(descriptor)
      listener.hasClosed()
    }
  }

  private func secure(_ descriptor: Int32, _ security: TLSServerSecurity) {
    guard let session = try? security.session(descriptor) else { return PlatformSocket.close(descriptor) }
    listener.hasOpened()
    ServerHandshake(descriptor, session, listener, loop).start()
  }

  /// Looks now and then whether the files of the certificates have changed.
  func watchCertificates() {
    guard let certificates = listener.security?.settings.certificates else { return }
    loop.schedule(after: listener.tuning.certificateInterval) { [weak self] in
      guard let self, !isClosed else { return }
      certificates.reloadIfChanged()
      watchCertificates()
    }
  }

  /// Without a descriptor the connection would stay in the queue and wake the loop for ever: it is closed by means of
  /// the spare one, and others wait a moment.
  private func refuseOne() {
    if spare >= 0 {
      PlatformSocket.close(spare)
      let descriptor = PlatformSocket.accept(self.descriptor)
      if descriptor >= 0 { PlatformSocket.close(descriptor) }
      spare = PlatformSocket.spare()
    }
    pause()
  }

  private func pause() {
    guard !isPaused else { return }
    isPaused = true
    loop.change(self, [])
    loop.schedule(after: listener.tuning.acceptPause) { [self] in
      isPaused = false
      guard !isClosed else { return }
      if spare < 0 { spare = PlatformSocket.spare() }
      loop.change(self, .readable)
    }
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    loop.remove(self)
    PlatformSocket.close(descriptor)
    if spare >= 0 { PlatformSocket.close(spare) }
    listener.hasClosedAcceptor()
  }
}
