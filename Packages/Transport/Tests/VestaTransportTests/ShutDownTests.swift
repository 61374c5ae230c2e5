import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct ShutDownTests {
  @Test(arguments: [Duration.zero, .milliseconds(20)])
  func `a request that takes longer than a shut-down allows is cut off`(grace: Duration) async throws {
    let begun = Log<String>()
    let handler = HTTPClosureHandler { request in
      begun.add(request.target)
      return .task {
        // Until it is cancelled.
        try await Gate().pass()
        return HTTPResponse()
      }
    }
    try await TestServer.run(handler: handler) { server in
      let peer = try server.peer()
      peer.send("GET /long HTTP/1.1\r\nhost: h\r\n\r\n")
      await begun.wait { !$0.isEmpty }
      await server.listener.shutDown(within: grace)
      #expect(server.listener.connectionCount == 0)
      #expect(peer.receiveText() == "")
    }
  }
}
