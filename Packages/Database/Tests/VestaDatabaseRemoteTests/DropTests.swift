import Testing
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseRemote

@Suite(.timeLimit(.minutes(5))) struct DropTests {
  @Test func `a connection that is dropped ends its WebSocket`() async throws {
    let (ended, network) = (Log<Bool>(), FakeNetwork())
    let handler = HTTPClosureHandler { _ in
      .webSocket(
        WebSocketService { socket in
          defer { ended.add(true) }
          try await socket.send(.text(#"{"t":"c","d":{"t":"h","d":{"ts":5,"v":"5","h":"h","s":"S"}}}"#))
          for try await _ in socket.messages {}
        })
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://localhost"))
    var client: Client? = Client(remote)
    await client?.messages.wait { !$0.isEmpty }
    client = nil
    await ended.wait { !$0.isEmpty }
  }

  @Test func `a connection that is closed while it opens gives the opening up`() async throws {
    let (asked, left, network) = (Log<Bool>(), Log<Bool>(), FakeNetwork())
    let handler = HTTPClosureHandler { _ in
      .task {
        defer { left.add(true) }
        asked.add(true)
        // Until it is cancelled.
        try await Gate().pass()
        return HTTPResponse(.ok)
      }
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let client = Client(DatabaseRemote(on: try RESTService(network, at: "http://localhost")))
    await asked.wait { !$0.isEmpty }
    client.close()
    // If the opening goes on, the time limit of the suite fails this.
    await left.wait { !$0.isEmpty }
  }
}
