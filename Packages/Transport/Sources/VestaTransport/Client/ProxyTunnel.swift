import VestaTransportInterop

/// Asks a proxy for a tunnel to a host, by CONNECT.
///
/// Confined to its loop.
final class ProxyTunnel: Channel {
  private let loop: EventLoop
  private let proxy: ProxySettings.Proxy
  private var output = OutputQueue()
  private var input: [UInt8] = []
  private var machine: ResponseMachine
  private let deadline: Int64
  private var completion: ((TransportError?) -> Void)?

  /// - Parameter completion: Called once on the loop; the descriptor is then the caller's again, and without an error
  ///   what is written to it reaches the host.
  init(
    _ descriptor: Int32, _ loop: EventLoop, _ authority: String, _ proxy: ProxySettings.Proxy,
    completion: @escaping (TransportError?) -> Void
  ) {
    self.loop = loop
    self.proxy = proxy
    self.completion = completion
    machine = ResponseMachine(loop.tuning)
    machine.method = .connect
    deadline = PlatformClock.nanoseconds + loop.tuning.handshakeTimeout.nanoseconds
    super.init(descriptor)
    var fields = HTTPFields()
    if let authorization = proxy.authorization { fields.set("proxy-authorization", authorization) }
    let request = HTTPRequest(.connect, authority, authority: authority, fields: fields)
    MessageWriter.head(request, .none, .usual, into: &output.tail)
  }

  func start() {
    guard loop.add(self, [.writable, .readable]) else {
      completion.take()?(TransportError(.exhausted, "The system watches no more sockets.", mayHaveBeenProcessed: false))
      return
    }
  }

  override func ready(_ events: PlatformPoll.Interest) {
    if !output.isEmpty {
      switch output.write(to: descriptor) {
      case .moved: loop.change(self, .readable)
      case .wouldBlock: break
      case .broken: return finish(failure("has ended the connection"))
      }
    }
    switch PlatformSocket.read(descriptor, loop.readBuffer) {
    case .moved(0), .broken: finish(failure("has ended the connection"))
    case .wouldBlock: break
    case .moved(let count):
      input.append(contentsOf: UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]))
      read()
    }
  }

  private func refusal(_ status: HTTPStatus) -> TransportError {
    let hint = status == 407 ? ": its URL needs a user and a password that it knows" : ""
    return TransportError(
      .refused, "The proxy at \(proxy.host) has answered \(status)\(hint).", mayHaveBeenProcessed: false,
      status: status)
  }

  private func read() {
    var start = 0
    while completion != nil {
      do {
        guard case .head(let head, let used) = try input.withUnsafeBufferPointer({ try step($0, start) }) else {
          return
        }
        start += used
        if head.status.isInterim { continue }
        guard head.status.isSuccess else { return finish(refusal(head.status)) }
        // The host speaks second: bytes that follow at once are the proxy's.
        return finish(start == input.count ? nil : failure("has sent more than an answer"))
      } catch {
        let reason = (error as? ProtocolFailure)?.reason ?? "something else than an answer"
        return finish(failure("has sent \(reason)"))
      }
    }
  }

  private func step(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) throws(ProtocolFailure) -> ResponseMachine.Step {
    try machine.step(bytes, from: start)
  }

  override func sweep(_ now: Int64) {
    guard now >= deadline else { return }
    finish(
      TransportError(
        .timedOut, "The proxy at \(proxy.host) has not answered within \(loop.tuning.handshakeTimeout).",
        mayHaveBeenProcessed: false))
  }

  private func failure(_ what: String) -> TransportError {
    TransportError(.cannotConnect, "The proxy at \(proxy.host) \(what).", mayHaveBeenProcessed: false)
  }

  private func finish(_ error: TransportError?) {
    guard let completion = completion.take() else { return }
    loop.remove(self)
    completion(error)
  }
}
