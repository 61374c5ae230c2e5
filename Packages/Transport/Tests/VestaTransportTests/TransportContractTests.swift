import Testing
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropContracts

@testable import VestaTransport

@Suite(.serialized, .timeLimit(.minutes(10))) struct TransportContractTests {
  @Test(arguments: TransportContracts.all)
  func `server and client keep every promise on sockets`(contract: Contract<TransportSubject>) async throws {
    let server = try VestaTransportServer(loops: 2)
    let client = try VestaTransportClient()
    try await contract.verify(TransportSubject(server: server, client: client))
    await client.close()
    await server.stop()
  }

  @Test(arguments: UInt64(1)...8)
  func `server and client keep every promise with small limits`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    var tuning = TransportTuning()
    tuning.readBytes = random.pick([1_000, 4_096, 17_000])
    tuning.backlogBytes = random.pick([1, 100, 5_000])
    tuning.sharedBytes = random.pick([1, 100, 16_384])
    tuning.requestsPerTurn = 1 + random.below(3)
    tuning.acceptsPerTurn = 1 + random.below(2)
    tuning.eventsPerTurn = 1 + random.below(3)
    tuning.idleConnectionsPerHost = random.below(3)
    let outcomes = try await TransportContracts.all.asyncMap { contract in
      let server = try VestaTransportServer(loops: 1 + random.below(2), tuning: tuning)
      let client = try VestaTransportClient(tuning: tuning)
      let outcome = await [contract].run { TransportSubject(server: server, client: client) }
      await client.close()
      await server.stop()
      return outcome
    }
    #expect(outcomes.joined().filter { !$0.isKept }.map(\.description) == [], "seed \(seed)")
  }
}

extension Array {
  fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
    var values: [Value] = []
    for element in self { values.append(try await transform(element)) }
    return values
  }
}
