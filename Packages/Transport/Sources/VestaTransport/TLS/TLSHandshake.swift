import VestaTransportInterop

/// A socket until its session is secured; then its connection watches it.
///
/// Confined to its loop.
class TLSHandshake: Channel {
  enum Outcome {
    case secured(TLSSession)
    /// A client speaks something else in clear.
    case clear
    case failed(TransportError)
  }

  private let loop: EventLoop
  private let session: TLSSession
  private let looksForClear: Bool
  private let deadline: Int64
  private var isFirst = true
  private var interest = PlatformPoll.Interest.readable
  private var completion: ((Outcome) -> Void)?

  /// - Parameter completion: Called once on the loop, unless the handshake is cancelled; the descriptor is then the
  ///   caller's again.
  init(
    _ descriptor: Int32, _ session: TLSSession, _ loop: EventLoop, looksForClear: Bool,
    completion: @escaping (Outcome) -> Void
  ) {
    self.loop = loop
    self.session = session
    self.looksForClear = looksForClear
    self.completion = completion
    deadline = PlatformClock.nanoseconds + loop.tuning.handshakeTimeout.nanoseconds
    super.init(descriptor)
  }

  /// Begins; a client speaks first.
  func start() {
    guard loop.add(self, interest) else {
      completion.take()?(
        .failed(TransportError(.exhausted, "The system watches no more sockets.", mayHaveBeenProcessed: false)))
      return
    }
    if !looksForClear { goOn() }
  }

  override func ready(_ events: PlatformPoll.Interest) {
    if isFirst, looksForClear {
      // A record of TLS begins with 22; a request of HTTP with a letter.
      guard let first = PlatformSocket.peek(descriptor) else { return goOn() }
      isFirst = false
      if first != 22 { return finish(.clear) }
    }
    goOn()
  }

  override func sweep(_ now: Int64) {
    guard now >= deadline else { return }
    finish(
      .failed(
        TransportError(
          .timedOut, "The peer has not ended the TLS handshake within \(loop.tuning.handshakeTimeout).",
          mayHaveBeenProcessed: false)))
  }

  private func goOn() {
    switch session.handshake(bytes: loop.tuning.handshakeBytes) {
    case .done: finish(.secured(session))
    case .failed(let error): finish(.failed(error))
    case .waits(let wanted):
      guard wanted != interest else { return }
      interest = wanted
      loop.change(self, wanted)
    }
  }

  private func finish(_ outcome: Outcome) {
    guard let completion = completion.take() else { return }
    loop.remove(self)
    completion(outcome)
  }

  /// Ends it; the descriptor is closed, without a call.
  func cancel() {
    guard completion.take() != nil else { return }
    loop.remove(self)
    PlatformSocket.close(descriptor)
    cancelled()
  }

  /// It was cancelled, and the descriptor is closed.
  func cancelled() {}
}
