import Testing
import VestaTransportInterop

@testable import VestaTransport

/// Heads and trailers that are too large to be sent.
@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2LargeHeadTests {
  private struct LargeHandler: HTTPHandler {
    func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { .collected(upTo: 100) }

    func reply(to request: HTTPRequest) -> HTTPReply {
      let large: HTTPFields = ["large": String(repeating: "a", count: 2 << 20)]
      switch request.target {
      case "/head": return .response(HTTPResponse(fields: large))
      case "/body": return .response(HTTPResponse(fields: large, body: .text("body")))
      case "/trailers": return .response(HTTPResponse(body: .text("body"), trailers: large))
      default: return .response(HTTPResponse(body: .text(request.target)))
      }
    }
  }

  @Test(arguments: ["/head", "/body", "/trailers"])
  func `a peer does not wait for a head that cannot be sent`(target: String) async throws {
    try await TestServer.run(handler: LargeHandler()) { server in
      let peer = try HTTP2Peer(server)
      peer.send(.get(1, target))
      #expect(peer.error(on: 1) == .internalError)
      peer.send(.get(3, "/next"))
      #expect(peer.body(of: 3) == "/next")
    }
  }
}
