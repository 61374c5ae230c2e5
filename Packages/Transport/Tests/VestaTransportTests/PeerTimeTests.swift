import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct PeerTimeTests {
  private typealias Frame = HTTP2Frame

  @Test func `a head of HTTP 2 that arrives in parts is served while it has time`() async throws {
    try await TestServer.run({ $0.idleTimeout = .milliseconds(50) }) { server in
      let peer = try HTTP2Peer(server)
      let block = Frame.get(1, "/parts").payload
      peer.send(Frame(.headers, Frame.endStream, on: 1, Array(block.prefix(5))))
      // The end of a connection that has become idle since shows that the server has looked for late ones.
      let idle = try server.peer()
      idle.send("GET / HTTP/1.1\r\nhost: h\r\n\r\n")
      _ = idle.receiveText()
      peer.send(Frame(.continuation, Frame.endHeaders, on: 1, Array(block.dropFirst(5))))
      #expect(peer.body(of: 1) == "/parts")
    }
  }

  @Test(arguments: ["GET / HTTP/1.1\r\nhost: h\r\n\r\n", "POST / HTTP/1.1\r\nhost: h\r\ncontent-length: 1\r\n\r\na"])
  func `a handler may take longer than a peer may`(request: String) async throws {
    let (begun, gate) = (Log<Bool>(), Gate())
    let handler = HTTPClosureHandler { _ in
      .task {
        begun.add(true)
        await gate.wait()
        return HTTPResponse(body: .text("made"))
      }
    }
    let shorten: (inout TransportTuning) -> Void = {
      $0.headTimeout = .milliseconds(50)
      $0.bodyTimeout = .milliseconds(50)
      $0.idleTimeout = .milliseconds(50)
    }
    try await TestServer.run(shorten, handler: handler) { server in
      let peer = try server.peer()
      peer.send(request)
      await begun.wait { !$0.isEmpty }
      // A peer that begins later and never ends its head is late before the handler answers.
      let late = try server.peer()
      late.send("GET / HT")
      #expect(late.receiveText().hasPrefix("HTTP/1.1 408 "))
      gate.open()
      #expect(peer.receive(until: "made").hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test(arguments: ["/echo", "/stream"], [true, false])
  func `a body is asked for by HTTP 2 when its request expects that`(target: String, expects: Bool) async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, target, method: "POST", ends: false, expects ? [("expect", "100-continue")] : []))
      peer.send(Frame(.data, Frame.endStream, on: 1, [65]))
      let frames = peer.frames { $0.stream == 1 && $0.flags & Frame.endStream != 0 && $0.kind != 8 }
      let heads = frames.count { $0.stream == 1 && $0.kind == Frame.Kind.headers.rawValue }
      #expect(heads == (expects ? 2 : 1))
    }
  }
}
