import Testing
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropContracts

@testable import VestaTransport

/// Sends all requests by HTTP/2, and opens WebSockets by HTTP/1.1 on the same port.
struct HTTP2OnlyClient: HTTPClient {
  let client: VestaTransportClient

  func send(_ request: HTTPRequest, timeout: Duration?) async throws -> HTTPResponse {
    var request = request
    request.version = .http2
    return try await client.send(request, timeout: timeout)
  }

  func openWebSocket(_ request: HTTPRequest, subprotocols: [String], timeout: Duration?) async throws -> WebSocket {
    try await client.openWebSocket(request, subprotocols: subprotocols, timeout: timeout)
  }

  func close() async { await client.close() }
}

@Suite(.serialized, .timeLimit(.minutes(10))) struct HTTP2ContractTests {
  @Test(arguments: TransportContracts.all)
  func `server and client keep every promise by HTTP 2`(contract: Contract<TransportSubject>) async throws {
    let server = try VestaTransportServer(loops: 2)
    let client = HTTP2OnlyClient(client: try VestaTransportClient())
    try await contract.verify(TransportSubject(server: server, client: client))
    await client.close()
    await server.stop()
  }

  @Test(arguments: UInt64(1)...8)
  func `server and client keep every promise by HTTP 2 with small limits`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var tuning = TransportTuning()
    tuning.readBytes = random.pick([1_000, 4_096, 17_000])
    tuning.backlogBytes = random.pick([1, 100, 5_000])
    tuning.eventsPerTurn = 1 + random.below(3)
    tuning.http2Streams = 1 + random.below(3)
    tuning.http2StreamWindow = random.pick([500, 5_000, 70_000])
    tuning.http2ConnectionWindow = 65_535
    // Windows of few bytes make many window updates.
    tuning.http2ControlFrames = 1_000_000
    for contract in TransportContracts.all {
      let server = try VestaTransportServer(loops: 1 + random.below(2), tuning: tuning)
      let client = HTTP2OnlyClient(client: try VestaTransportClient(loops: 1 + random.below(2), tuning: tuning))
      let outcomes = await [contract].run {
        TransportSubject(server: server, client: client, slack: 2 << 20)
      }
      #expect(outcomes.filter { !$0.isKept }.map(\.description) == [], "seed \(seed)")
      await client.close()
      await server.stop()
    }
  }
}
