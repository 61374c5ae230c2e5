import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// Responses without a reader: the writer of the body is told.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LateResponseTests {
  /// A handler of one response, which begins when a test lets it.
  private struct LateHandler: HTTPHandler {
    var status: HTTPStatus = .ok
    let body = ByteStream(limit: 1)
    let isAsked = Gate(), mayAnswer = Gate()

    func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: 100) }

    func reply(to request: HTTPRequest) -> HTTPReply {
      isAsked.open()
      return .task {
        await mayAnswer.wait()
        return HTTPResponse(status, body: .stream(body, length: nil))
      }
    }

    /// Writes until there is no reader.
    func expectNoReader() async {
      mayAnswer.open()
      let error = await #expect(throws: TransportError.self) { while true { try await body.write([1, 2]) } }
      #expect(error?.code == .closed)
    }
  }

  /// Asks for the response, by HTTP/1.1 or HTTP/2.
  private func ask(_ server: TestServer, _ handler: LateHandler, isHTTP2: Bool) async throws -> RawPeer {
    let peer: RawPeer
    if isHTTP2 {
      let frames = try HTTP2Peer(server)
      frames.send(.get(1))
      peer = frames.peer
    } else {
      peer = try server.peer()
      peer.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n")
    }
    await handler.isAsked.wait()
    return peer
  }

  @Test(arguments: [false, true])
  func `what writes a response learns that the peer had left before it began`(isHTTP2: Bool) async throws {
    let handler = LateHandler()
    try await TestServer.run(handler: handler) { server in
      try await ask(server, handler, isHTTP2: isHTTP2).reset()
      await server.waitForConnections(0)
      await handler.expectNoReader()
    }
  }

  @Test(arguments: [false, true])
  func `what writes a response learns that the server had stopped before it began`(isHTTP2: Bool) async throws {
    let handler = LateHandler()
    let peer = try await TestServer.run(handler: handler) { try await ask($0, handler, isHTTP2: isHTTP2) }
    await handler.expectNoReader()
    peer.close()
  }

  @Test(arguments: [false, true])
  func `what writes a response learns that an interim one is not sent`(isHTTP2: Bool) async throws {
    let handler = LateHandler(status: HTTPStatus(103))
    try await TestServer.run(handler: handler) { server in
      let peer = try await ask(server, handler, isHTTP2: isHTTP2)
      await handler.expectNoReader()
      peer.close()
    }
  }
}
