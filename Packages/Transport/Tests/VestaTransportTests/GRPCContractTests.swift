import Testing
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropContracts

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct GRPCContractTests {
  @Test(arguments: GRPCContracts.all)
  func `server and client keep every promise of gRPC`(contract: Contract<TransportSubject>) async throws {
    let server = try VestaTransportServer(loops: 2)
    let client = try VestaTransportClient()
    try await contract.verify(TransportSubject(server: server, client: client))
    await client.close()
    await server.stop()
  }

  @Test(arguments: UInt64(1)...6)
  func `server and client keep every promise of gRPC with small limits`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var tuning = TransportTuning()
    tuning.readBytes = random.pick([1_000, 4_096, 17_000])
    tuning.backlogBytes = random.pick([1, 100, 5_000])
    tuning.sharedBytes = random.pick([1, 100, 16_384])
    tuning.eventsPerTurn = 1 + random.below(3)
    tuning.http2StreamWindow = random.pick([5_000, 70_000])
    tuning.http2ConnectionWindow = 65_535
    tuning.http2ControlFrames = 1_000_000
    for contract in GRPCContracts.all {
      let server = try VestaTransportServer(loops: 1 + random.below(2), tuning: tuning)
      let client = try VestaTransportClient(loops: 1 + random.below(2), tuning: tuning)
      let outcomes = await [contract].run { TransportSubject(server: server, client: client, slack: 2 << 20) }
      #expect(outcomes.filter { !$0.isKept }.map(\.description) == [], "seed \(seed)")
      await client.close()
      await server.stop()
    }
  }
}
