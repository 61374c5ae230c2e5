import VestaConcurrency
import VestaTransportInterop

/// A request under way, its response until the end of its body, or a WebSocket.
final class FakeExchange: Sendable {
  private struct State: Sendable {
    var tasks: [Task<Void, Never>] = []
    var streams: [ByteStream] = []
    var sockets: [WebSocket] = []
    var reply: Turn<HTTPReply>?
    var failure: (any Error)?
    var isOver = false
  }

  let number: Int
  let listener: FakeListener
  private let request: HTTPRequest
  private let network: FakeNetwork
  private let state = Locked(State())

  init(number: Int, request: HTTPRequest, listener: FakeListener, network: FakeNetwork) {
    self.number = number
    self.request = request
    self.listener = listener
    self.network = network
  }

  /// Waits for what the handler replies; tasks of it have run.
  func reply(isSilent: Bool, after arrival: @escaping @Sendable () async throws -> Void) async throws -> HTTPReply {
    try await Turn<HTTPReply>().wait { turn in
      let failure = state.withLock { state in
        state.reply = turn
        return state.failure
      }
      if let failure {
        turn.begin()?.resume(throwing: failure)
        return
      }
      if isSilent { return }
      run { exchange in
        do {
          try await arrival()
          let reply = try await exchange.serve()
          turn.begin()?.resume(returning: reply)
        } catch {
          turn.begin()?.resume(throwing: error)
        }
      }
    } onCancel: { [weak self] _ in
      self?.fail(CancellationError())
    }
  }

  private func serve() async throws -> HTTPReply {
    var request = request
    request.peer = TransportPeer(
      address: .internet(host: "127.0.0.1", port: 50_000), localAddress: listener.address,
      isSecure: request.scheme == "https")
    let head = HTTPRequestHead(method: request.method, target: request.target, fields: request.fields)
    if request.body.length != 0 {
      switch listener.handler.bodyDelivery(for: head) {
      case .streamed: request.body = .stream(relay(request.body.stream), length: request.body.length)
      case .collected(let limit):
        do {
          request.body = .bytes(try await request.body.collect(upTo: limit))
        } catch TransportError.Code.tooLarge {
          return .response(listener.handler.refusal(of: head, limit: limit))
        }
      }
    }
    switch listener.handler.reply(to: request) {
    case .task(let work):
      do {
        return .response(try await work())
      } catch {
        return .response(HTTPResponse(.internalServerError))
      }
    case let reply: return reply
    }
  }

  /// The response as the client sees it; the exchange is over with its body.
  func relayed(_ response: HTTPResponse) -> HTTPResponse {
    var response = response
    if request.method == .head || response.status.forbidsBody {
      response.body = .empty
    } else if !response.trailers.isEmpty, let bytes = response.body.bytes {
      response.body = .stream(ByteStream(whole: bytes, trailers: response.trailers), length: bytes.count)
    }
    response.trailers = [:]
    guard case .stream(let stream, let length) = response.body else {
      end()
      return response
    }
    response.body = .stream(relay(stream, endsExchange: true), length: length)
    return response
  }

  /// Copies a stream with its back-pressure; either end may leave it.
  private func relay(_ source: ByteStream, endsExchange: Bool = false) -> ByteStream {
    let target = ByteStream()
    let failure = state.withLock { state in
      state.streams += [source, target]
      return state.failure
    }
    if let failure { target.fail(failure) }
    target.pipe.setDemand(nil, onCancel: { source.cancel() })
    run { exchange in
      do {
        while let bytes = try await source.next() { try await target.write(bytes) }
        target.finish(trailers: source.trailers)
      } catch {
        target.fail(error)
        source.cancel()
      }
      if endsExchange { exchange.end() }
    }
    return target
  }

  /// Opens both ends of a WebSocket, and lets the service serve the server's.
  func open(_ service: WebSocketService) -> WebSocket {
    let offered = request.fields.values("sec-websocket-protocol").joined(separator: ",").split(separator: ",")
      .map { $0.filter { $0 != " " } }
    let subprotocol = service.subprotocol.flatMap { offered.contains($0) ? $0 : nil }
    let (client, server) = (WebSocket(subprotocol: subprotocol), WebSocket(subprotocol: subprotocol))
    state.withLock { $0.sockets = [client, server] }
    for (from, to, limit) in [(client, server, service.messageLimit), (server, client, Int.max)] {
      run { exchange in await exchange.carry(from, to, limit) }
    }
    run { exchange in
      do {
        try await service.serve(server)
        server.close()
      } catch {
        server.close(WebSocketClose(.internalError))
      }
      _ = await server.closed()
      exchange.end()
    }
    return client
  }

  private func carry(_ from: WebSocket, _ to: WebSocket, _ limit: Int) async {
    var end = WebSocketClose(.abnormal)
    do {
      carrying: for try await output in from.output {
        switch output {
        case .message(let message):
          guard message.byteCount <= limit else {
            end = WebSocketClose(.messageTooBig)
            break carrying
          }
          try await to.messages.write(message)
        case .ping: continue
        case .close(let given):
          end = given
          break carrying
        }
      }
    } catch {
      end = from.end ?? to.end ?? end
    }
    to.hasEnded(end)
    from.hasEnded(end)
  }

  // MARK: The end

  /// Asks for the end as a server that shuts down does.
  func goAway() {
    for socket in state.withLock({ $0.sockets }).suffix(1) { socket.close(WebSocketClose(.goingAway)) }
  }

  func fail(_ error: any Error) {
    let state = state.withLock { state in
      if state.failure == nil { state.failure = error }
      return state
    }
    state.reply?.begin()?.resume(throwing: error)
    for stream in state.streams { stream.fail(error) }
    for socket in state.sockets { socket.hasEnded(WebSocketClose(.abnormal)) }
    for task in state.tasks { task.cancel() }
    end()
  }

  func end() {
    let isFirst = state.withLock { state in
      defer { state.isOver = true }
      return !state.isOver
    }
    if isFirst { network.remove(self) }
  }

  private func run(_ work: @escaping @Sendable (FakeExchange) async -> Void) {
    let task = Task { await work(self) }
    let isFailed = state.withLock { state in
      state.tasks.append(task)
      return state.failure != nil
    }
    if isFailed { task.cancel() }
  }
}
