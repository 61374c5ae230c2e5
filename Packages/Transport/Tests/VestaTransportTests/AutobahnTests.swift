import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

/// The cases of RFC 6455 that the Autobahn project numbers, for a server and for a client: sent frame by frame, at once
/// and octet by octet.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AutobahnTests {
  static let cases =
    AutobahnCase.framing + AutobahnCase.pings + AutobahnCase.reserved + AutobahnCase.opcodes + AutobahnCase.fragments
    + AutobahnCase.text + AutobahnCase.closes

  @Test(arguments: cases) func `a server keeps the rule`(rule: AutobahnCase) async throws {
    try await TestServer.run(handler: EchoingSockets()) { server in
      let address = server.listener.address
      let seen = await TestThreads.run {
        Result {
          try SocketPeer.Cut.allCases.map { cut in
            (cut, Self.play(rule, SocketPeer(client: try RawPeer(address)), cut))
          }
        }
      }
      for (cut, difference) in try seen.get() { #expect(difference == nil, "\(rule.testDescription), \(cut)") }
      #expect(try server.isAlive())
    }
  }

  @Test(arguments: cases) func `a client keeps the rule`(rule: AutobahnCase) async throws {
    for cut in SocketPeer.Cut.allCases {
      let (difference, end) = try await Self.asServer { Self.play(rule, $0, cut) }
      #expect(difference == nil, "\(rule.testDescription), \(cut)")
      // The application learns the code that the connection ended with.
      switch rule.end {
      case .closes: #expect(end.code == .normal, "\(rule.testDescription), \(cut): \(end)")
      case .code(let code): #expect(end.code.number == code, "\(rule.testDescription), \(cut): \(end)")
      }
    }
  }

  /// One client for all cases: the roots that it trusts are read when it is made.
  private static let client = Result { try VestaTransportClient() }

  /// Opens a WebSocket that sends every message back, and plays the server.
  static func asServer<Value: Sendable>(
    _ play: @escaping @Sendable (SocketPeer) -> Value
  ) async throws -> (Value, WebSocketClose) {
    let server = try AcceptingServer()
    let client = try Self.client.get()
    let playing = Task { await TestThreads.run { server.accept().map { play(SocketPeer(server: $0)) } } }
    let socket = try await client.openWebSocket(
      HTTPRequest(.get, "/socket", authority: server.authority), subprotocols: [], timeout: .seconds(60))
    do {
      while let message = try await socket.messages.next() { try await socket.send(message) }
    } catch let error as TransportError where error.code == .closed {
      // The peer closed before it had its answer.
    }
    let end = await socket.closed()
    return (try #require(await playing.value), end)
  }

  /// Plays a rule.
  ///
  /// - Returns: The first difference to what it says.
  private static func play(_ rule: AutobahnCase, _ peer: SocketPeer, _ cut: SocketPeer.Cut) -> String? {
    defer { peer.close() }
    var owed: [SocketFrame] = []
    for (index, step) in rule.steps.enumerated() {
      peer.send(step.sent, cut)
      owed = step.answers
      while !owed.isEmpty {
        guard let frame = peer.next() else { return "step \(index): the end instead of \(owed)" }
        // Pongs may overtake the messages, and keep their order.
        guard let place = owed.firstIndex(where: { ($0.opcode == 10) == (frame.opcode == 10) }), owed[place] == frame
        else { return "step \(index): \(frame) instead of \(owed)" }
        owed.remove(at: place)
      }
    }
    if rule.end == .closes { peer.send([.close(1000)], cut) }
    guard let last = peer.next() else { return "no close frame" }
    let code: UInt16 = if case .code(let code) = rule.end { code } else { 1000 }
    guard last.opcode == 8, last.code == code else { return "\(last), \(last.code) instead of the code \(code)" }
    if let frame = peer.next() { return "\(frame) after the close frame" }
    return nil
  }
}

/// Sends every message back.
struct EchoingSockets: HTTPHandler {
  func reply(to request: HTTPRequest) -> HTTPReply {
    guard request.target == "/socket" else { return .response(HTTPResponse(body: .text(request.target))) }
    return .webSocket(
      WebSocketService(messageLimit: 17 << 20) { socket in
        while let message = try await socket.messages.next() { try await socket.send(message) }
      })
  }
}
