import Testing
import VestaTesting
import VestaTransportInterop

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct PeerTimeTests {
  private typealias Frame = HTTP2Frame

  @Test func `a head of HTTP 2 that arrives in parts is served while it has time`() async throws {
    try await TestServer.run { server in
      let peer = try HTTP2Peer(server)
      let block = Frame.get(1, "/parts").payload
      peer.send(Frame(.headers, Frame.endStream, on: 1, Array(block.prefix(5))))
      // The server looks ten times at what may be late.
      try await Task.sleep(for: .milliseconds(100))
      peer.send(Frame(.continuation, Frame.endHeaders, on: 1, Array(block.dropFirst(5))))
      #expect(peer.body(of: 1) == "/parts")
    }
  }
}
