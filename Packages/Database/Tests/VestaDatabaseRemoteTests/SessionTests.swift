import Testing
import VestaDatabaseBackend
import VestaDatabaseBackendContracts
import VestaDatabaseEndpoints
import VestaDatabaseService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseRemote

/// The promises of connections about their callers, kept by an engine behind its endpoints.
@Suite(.timeLimit(.minutes(10))) struct SessionTests {
  private func subject(
    over network: @escaping @Sendable (any HTTPHandler) throws -> any HTTPClient
  ) -> DatabaseSessionSubject {
    let clock = ManualClock()
    let verifier = FakeCallerVerifier(clock: clock.service)
    verifier.accept(.full, token: "owner")
    let callers = CallerCheck(
      callers: verifier, apps: FakeAppCheckVerifier(["genuine": "app"]), enforcesAppCheck: true)
    return DatabaseSessionSubject(
      issue: { verifier.issue($0, claims: $1).token }, now: { clock.now }, advance: { clock.advance(by: $0) },
      make: { gatekeeper in
        var options = DatabaseServiceOptions()
        (options.clock, options.gatekeeper) = (clock.service, gatekeeper)
        let host = FakeEndpointHost(project: "demo", isDevelopment: false)
        host.add((any DatabaseBackend).self, DatabaseEngine(store: ModelStore(), options: options, callers: callers))
        return DatabaseRemote(
          on: try RESTService(network(DatabaseEndpoints().handler(in: host)), at: "http://localhost"))
      })
  }

  @Test(arguments: DatabaseSessionContracts.all)
  func `an engine behind its endpoints keeps every promise`(_ contract: Contract<DatabaseSessionSubject>) async throws {
    let subject = subject { handler in
      let network = FakeNetwork()
      try network.serve(handler, at: .internet(host: "localhost", port: 80))
      return network
    }
    try await contract.verify(subject)
  }

  @Test(arguments: DatabaseSessionContracts.all)
  func `every promise is kept over small pieces and delays`(_ contract: Contract<DatabaseSessionSubject>) async {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    do {
      try await contract.verify(subject { Served.scriptedNetwork(to: $0, seed: seed) })
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }
}
