import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaMessagingEndpoints
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// The comments that keep connections for deliveries open, and the connections that clients leave.
@Suite(.timeLimit(.minutes(5))) struct SignOfLifeTests {
  private let clock = ManualClock()
  private let network = FakeNetwork()
  private let backend = ScriptedMessagingBackend()

  init() throws {
    let host = FakeEndpointHost(project: "demo", clock: clock.service)
    host.add((any MessagingBackend).self, backend)
    try network.serve(MessagingEndpoints().handler(in: host), at: .internet(host: "localhost", port: 80))
  }

  /// A connection as its client sees it.
  private struct Connection {
    let stream: ByteStream
    /// The number of signs of life.
    let signs: EventLog<Void>
  }

  private func connect() async throws -> Connection {
    let request = HTTPRequest(
      .post, "/v1/projects/demo/registrations:connect", authority: "localhost",
      fields: [.contentType: "application/json"], body: .text(#"{"token":"a:b"}"#))
    let response = try await network.send(request, timeout: nil)
    let (stream, signs) = (response.body.stream, EventLog<Void>(patience: .seconds(60)))
    Task {
      var text: [UInt8] = []
      while let bytes = try await stream.next() {
        text += bytes
        while text.starts(with: ServerSentEvent.keepAlive) {
          text.removeFirst(ServerSentEvent.keepAlive.count)
          signs.record(())
        }
      }
    }
    return Connection(stream: stream, signs: signs)
  }

  @Test func `every 45 seconds all connections get a sign of life, and there is no timer without one`() async throws {
    let first = try await connect()
    clock.advance(by: .seconds(30))
    let second = try await connect()
    #expect(clock.deadlines == [clock.now + 15_000_000])
    for count in 1...3 {
      clock.advance(by: .seconds(count == 1 ? 15 : 45))
      for connection in [first, second] {
        try await connection.signs.wait(for: "sign \(count)") { $0.count == count }
      }
    }
    #expect(clock.deadlines == [clock.now + 45_000_000])
    first.stream.cancel()
    second.stream.cancel()
    while !backend.links.isEmpty { await Task.yield() }
    while network.exchangeCount > 0 { await Task.yield() }
    clock.advance(by: .seconds(45))
    #expect(clock.deadlines.isEmpty)
    let third = try await connect()
    clock.advance(by: .seconds(45))
    try await third.signs.wait(for: "a sign to a later connection") { $0.count == 1 }
    third.stream.cancel()
  }
}
