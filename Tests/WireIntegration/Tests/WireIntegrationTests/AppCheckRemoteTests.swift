import Testing
import VestaAppCheckBackend
import VestaAppCheckBackendContracts
import VestaAppCheckEndpoints
import VestaAppCheckRemote
import VestaAppCheckService
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// The remote backend of App Check in front of its endpoints and an engine with keys that sign.
@Suite(.timeLimit(.minutes(10))) struct AppCheckRemoteTests {
  private static let secret = "11111111-2222-4333-8444-555555555555"
  private static let app = "1:7:web:3"
  private let clock = ManualClock()
  private let crypto = rsaKeys.provider()

  private struct Served {
    let engine: AppCheckEngine
    let host: FakeEndpointHost
  }

  private func serve(_ project: String = "demo") -> Served {
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    let engine = AppCheckEngine(
      projectID: project, projectNumber: "7", crypto: crypto, options: AppCheckServiceOptions(clock: clock.service),
      callers: CallerCheck(callers: verifier)
    ) { ModelStore() }
    let host = FakeEndpointHost(project: project, clock: clock.service)
    host.add((any AppCheckBackend).self, engine)
    return Served(engine: engine, host: host)
  }

  private func remote(_ client: any HTTPClient, at origin: String = "http://localhost:80") throws -> AppCheckRemote {
    let service = try RESTService(
      client, at: origin, options: RESTOptions(ownerToken: { "owner" }), clock: clock.service)
    return AppCheckRemote(project: "demo", number: "7", on: service, crypto: crypto)
  }

  @Test(arguments: AppCheckContracts.all)
  func `the contract is kept behind the endpoints`(contract: Contract<AppCheckSubject>) async throws {
    let (served, network) = (serve(), FakeNetwork())
    try network.serve(AppCheckEndpoints().handler(in: served.host), at: .internet(host: "localhost", port: 80))
    try await contract.verify(AppCheckSubject(try remote(network)) { clock.advance(by: $0) })
    try await served.engine.close()
  }

  @Test(arguments: AppCheckContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<AppCheckSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = serve()
    let network = ScriptedNetwork(to: AppCheckEndpoints().handler(in: served.host), seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      func conditions(_ random: inout SplitMix) -> ScriptedPipe.Conditions {
        ScriptedPipe.Conditions(
          latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 1 + random.below(60) : nil)
      }
      return .init(fromClient: conditions(&random), fromServer: conditions(&random))
    }
    do {
      try await contract.verify(AppCheckSubject(try remote(network)) { clock.advance(by: $0) })
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.engine.close()
  }

  @Test(arguments: AppCheckContracts.all)
  func `the contract is kept over sockets`(contract: Contract<AppCheckSubject>) async throws {
    let served = serve()
    let server = try await SocketServer(AppCheckEndpoints(), in: served.host)
    let client = try VestaTransportClient()
    let remote = try remote(client, at: "http://127.0.0.1:\(server.port)")
    try await contract.verify(AppCheckSubject(remote) { clock.advance(by: $0) })
    await client.close()
    await server.stop()
    try await served.engine.close()
  }

  @Test func `a token that is consumed over a connection that is cut anywhere says whether that may have happened`()
    async throws
  {
    let served = serve()
    try await served.engine.addDebugSecret(Self.secret, appID: Self.app, context: .owner)
    for cut in stride(from: 0, through: 330, by: 15) {
      let token = try await served.engine.exchange(.debug(Self.secret), appID: Self.app, context: CallContext()).text
      let network = ScriptedNetwork(to: AppCheckEndpoints().handler(in: served.host)) { number in
        // The first exchange fetches the keys.
        number == 1 ? .init(fromServer: .init(largestPiece: 7, cutAfter: cut)) : .init()
      }
      do {
        let verified = try await remote(network).verify(token: token, consumes: true, context: CallContext())
        #expect(!verified.isAlreadyConsumed)
      } catch let error as AppCheckServiceError {
        #expect(error.code == .deadlineExceeded, "cut after \(cut)")
      }
      let later = try await served.engine.verify(token: token, consumes: true, context: CallContext())
      #expect(later.isAlreadyConsumed, "cut after \(cut)")
    }
    try await served.engine.close()
  }

  @Test func `a token of another project is not verified by this one's rules`() async throws {
    let (served, other, network) = (serve(), serve("other"), FakeNetwork())
    try network.serve(AppCheckEndpoints().handler(in: served.host), at: .internet(host: "localhost", port: 80))
    try await other.engine.addDebugSecret(Self.secret, appID: Self.app, context: .owner)
    let token = try await other.engine.exchange(.debug(Self.secret), appID: Self.app, context: CallContext()).text
    let remote = try remote(network)
    let error = await #expect(throws: AppCheckServiceError.self) {
      try await remote.verify(token: token, consumes: true, context: CallContext())
    }
    #expect(error?.code == .unauthenticated)
  }
}
