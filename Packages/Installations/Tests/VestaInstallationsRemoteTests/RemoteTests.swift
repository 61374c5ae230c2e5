import Testing
import VestaBytes
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
import VestaTransportInterop
import VestaTransportInteropFakes

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served {
  let engine: InstallationsEngine
  let remote: InstallationsRemote
  let clock = ManualClock()
  let store = ModelStore()

  /// - Parameter client: The way from the remote backend to a handler.
  init(over client: (any HTTPHandler) throws -> any HTTPClient) throws {
    let store = store
    engine = InstallationsEngine(options: InstallationsServiceOptions(clock: clock.service)) { store }
    let host = FakeEndpointHost(project: "demo")
    host.add((any InstallationsBackend).self, engine)
    let client = try client(InstallationsEndpoints().handler(in: host))
    remote = InstallationsRemote(project: "demo", on: try RESTService(client, at: "http://localhost:80"))
  }

  static func onFakeNetwork(_ network: FakeNetwork = FakeNetwork()) throws -> Served {
    try Served { handler in
      try network.serve(handler, at: .internet(host: "localhost", port: 80))
      return network
    }
  }

  var subject: InstallationsSubject {
    InstallationsSubject(backend: remote, verifier: engine) { [clock] in clock.advance(by: $0) }
  }
}

/// The remote backend, its endpoints and an engine as one service.
@Suite(.timeLimit(.minutes(5))) struct RemoteTests {
  private typealias Script = ScriptedNetwork.Script

  @Test(arguments: InstallationsContracts.all)
  func `an engine behind its endpoints keeps the contract`(contract: Contract<InstallationsSubject>) async throws {
    let served = try Served.onFakeNetwork()
    try await contract.verify(served.subject)
    try await served.engine.close()
  }

  @Test(arguments: InstallationsContracts.all)
  func `the contract is kept over small pieces and delays`(contract: Contract<InstallationsSubject>) async throws {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let served = try Served { handler in
      ScriptedNetwork(to: handler, seed: seed) { number in
        var random = SplitMix(seed: seed &+ UInt64(number))
        let conditions = { (random: inout SplitMix) in
          ScriptedPipe.Conditions(
            latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 1 + random.below(60) : nil)
        }
        return Script(fromClient: conditions(&random), fromServer: conditions(&random))
      }
    }
    do {
      try await contract.verify(served.subject)
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
    try await served.engine.close()
  }

  @Test(arguments: [false, true])
  func `a creation that is cut anywhere says whether it may have happened`(isOfServer: Bool) async throws {
    let id = "cABCDEFGHIJKLMNOPQRST0"
    for cut in stride(from: 0, through: 700, by: 7) {
      let served = try Served { handler in
        ScriptedNetwork(to: handler) { number in
          guard number == 0 else { return Script() }
          let lossy = ScriptedPipe.Conditions(largestPiece: 7, cutAfter: cut)
          return isOfServer ? Script(fromServer: lossy) : Script(fromClient: lossy)
        }
      }
      let request = CreateInstallationRequest(id: id, appID: "1:2:web:3")
      do {
        let made = try await served.remote.create(request, context: CallContext())
        #expect(made.id == id)
      } catch {
        // Unknown, and never UNAVAILABLE, which callers repeat by themselves.
        #expect(error.code == .deadlineExceeded, "cut after \(cut)")
      }
      try await served.engine.close()
    }
  }

  @Test func `a deletion that is repeated through any loss happens once and ends in success`() async throws {
    for cut in stride(from: 0, through: 400, by: 9) {
      let served = try Served { handler in
        ScriptedNetwork(to: handler) { number in
          number == 1 ? Script(fromServer: .init(largestPiece: 5, cutAfter: cut)) : Script()
        }
      }
      let made = try await served.remote.create(CreateInstallationRequest(appID: "a"), context: CallContext())
      let caller = BackendCaller(retry: Retry(initial: .zero, cap: .zero))
      try await caller.call {
        try await served.remote.delete(id: made.id, refreshToken: made.refreshToken, context: $0)
      }
      let error = await #expect(throws: InstallationsServiceError.self) {
        try await served.engine.verify(token: made.token.text, context: CallContext())
      }
      #expect(error?.code == .unauthenticated)
      try await served.engine.close()
    }
  }

  @Test func `requests have upstream's fields, and secrets are not sent in clear text to other machines`() async throws
  {
    let seen = Log<HTTPRequest>()
    let network = FakeNetwork()
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(HTTPResponse(503))
    }
    for host in ["example.com", "localhost"] { try network.serve(handler, at: .internet(host: host, port: 80)) }
    let identity = ClientIdentity(userAgent: "u/1", apiKey: "key", bundleID: "b.c")
    let services = RemoteServices(network, app: identity)
    func remote(_ origin: String) throws -> InstallationsRemote {
      InstallationsRemote(
        project: "p", on: try services.service(at: origin, isEmulator: true, sending: [.apiKey, .bundleID]),
        options: InstallationsRemoteOptions(sdkVersion: "s:1"))
    }
    let request = CreateInstallationRequest(id: "i", appID: "1:2:ios:3")
    let far = try remote("http://example.com")
    let error = await #expect(throws: InstallationsServiceError.self) {
      try await far.create(request, context: CallContext())
    }
    #expect(error?.code == .failedPrecondition && seen.entries.isEmpty)

    let near = try remote("http://localhost")
    await #expect(throws: InstallationsServiceError.self) { try await near.create(request, context: CallContext()) }
    await #expect(throws: InstallationsServiceError.self) {
      try await near.generateToken(id: "i", refreshToken: "r", context: CallContext())
    }
    let (made, renewed) = (seen.entries[0], seen.entries[1])
    #expect(made.method == .post && made.target == "/v1/projects/p/installations")
    #expect(made.fields["x-goog-api-key"] == "key" && made.fields["x-ios-bundle-identifier"] == "b.c")
    #expect(made.fields[.userAgent] == "u/1" && !made.fields.contains(.authorization))
    let body = try JSONObject(json: try await made.body.collect(upTo: 1_000))
    #expect(body == ["fid": "i", "authVersion": "FIS_v2", "appId": "1:2:ios:3", "sdkVersion": "s:1"])
    #expect(renewed.target == "/v1/projects/p/installations/i/authTokens:generate")
    #expect(renewed.fields[.authorization] == "FIS_v2 r")
    let token = #"{"installation":{"sdkVersion":"s:1"}}"#
    #expect(String(decoding: try await renewed.body.collect(upTo: 1_000), as: UTF8.self) == token)
  }

  @Test func `a call with the credential of another caller is not sent`() async throws {
    let network = FakeNetwork()
    let seen = Log<HTTPRequest>()
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(HTTPResponse(503))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let remote = InstallationsRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
    for context in [CallContext.owner, CallContext(caller: .credential(.idToken("t")))] {
      let renewal = await #expect(throws: InstallationsServiceError.self) {
        try await remote.generateToken(id: "i", refreshToken: "r", context: context)
      }
      let deletion = await #expect(throws: InstallationsServiceError.self) {
        try await remote.delete(id: "i", refreshToken: "r", context: context)
      }
      #expect(renewal?.code == .unauthenticated && deletion?.code == .unauthenticated)
    }
    #expect(seen.entries.isEmpty)
  }
}
