import Foundation
import Testing
import VestaConcurrency
import VestaInstallationsBackend
import VestaInstallationsBackendContracts
import VestaInstallationsEndpoints
import VestaInstallationsRemote
import VestaInstallationsService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// Installations over sockets.
@Suite(.serialized, .timeLimit(.minutes(5))) struct InstallationsWireTests {
  private let clock = ManualClock()
  private let engine: InstallationsEngine
  private let host = FakeEndpointHost(project: "demo")

  init() {
    let store = ModelStore()
    engine = InstallationsEngine(options: InstallationsServiceOptions(clock: clock.service)) { store }
    host.add((any InstallationsBackend).self, engine)
  }

  @Test(arguments: InstallationsContracts.all)
  func `the contract is kept over sockets`(contract: Contract<InstallationsSubject>) async throws {
    let server = try await SocketServer(InstallationsEndpoints(), in: host)
    let client = try VestaTransportClient()
    let remote = InstallationsRemote(project: "demo", on: try server.service(client))
    try await contract.verify(InstallationsSubject(backend: remote, verifier: engine) { clock.advance(by: $0) })
    await client.close()
    await server.stop()
    try await engine.close()
  }

  @Test func `a keeper whose server is away has its installation when the server is back`() async throws {
    let server = try await SocketServer(InstallationsEndpoints(), in: host)
    let client = try VestaTransportClient()
    let remote = InstallationsRemote(project: "demo", on: try server.service(client))
    // Begins at the time of the system, by whose clock the transport looks at deadlines.
    let clock = ManualClock(at: ServiceClock.system.now())
    let ids = InstallationKeeper.IDs {
      "cABCDEFGHIJKLMNOPQRST0"
    } renew: {
    }
    let keeper = InstallationKeeper(of: remote, appID: "1:2:ios:3", ids: ids, clock: clock.service) { 0 }
    await server.cut()
    let error = await #expect(throws: InstallationsServiceError.self) { try await keeper.credential() }
    #expect(error?.code == .unavailable)
    try await server.listen()
    // The pause after the failure is still running.
    await #expect(throws: InstallationsServiceError.self) { try await keeper.credential() }
    clock.advance(by: .seconds(2))
    let credential = try await keeper.credential()
    #expect(try await engine.verify(token: credential.token, context: CallContext()).id == credential.id)
    await client.close()
    await server.stop()
    try await engine.close()
  }
}
