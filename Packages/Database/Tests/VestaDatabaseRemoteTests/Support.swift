import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseEndpoints
import VestaDatabaseService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseRemote

/// A server for which every database is configured, as contracts use names without creating the databases.
private struct Configured: EndpointHost {
  let host: FakeEndpointHost

  var clock: ServiceClock { host.clock }
  var defaultProject: String { host.defaultProject }
  var isDevelopment: Bool { host.isDevelopment }

  func project(ofDatabase namespace: String) -> String? { host.defaultProject }

  func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
    try host.backend(type, project: project)
  }

  func onShutDown(_ work: @escaping @Sendable () -> Void) { host.onShutDown(work) }
}

/// A remote backend, a network, the endpoints and an engine as one service.
struct Served {
  let engine: DatabaseEngine
  let remote: DatabaseRemote
  let host: FakeEndpointHost

  /// - Parameters:
  ///   - verifier: Verifies callers; without one all credentials are refused.
  ///   - rules: The rules of the engine.
  ///   - options: The settings of the remote backend.
  ///   - network: Makes the network in front of the endpoints.
  init(
    verifier: (any CallerVerifier)? = nil, rules: (any RulesAdministration)? = nil,
    options: DatabaseRemoteOptions = DatabaseRemoteOptions(), network: (any HTTPHandler) throws -> any HTTPClient
  ) throws {
    var service = DatabaseServiceOptions()
    service.rules = rules
    engine = DatabaseEngine(
      store: ModelStore(), options: service, callers: CallerCheck(callers: verifier))
    host = FakeEndpointHost(project: "demo", isDevelopment: false)
    host.add((any DatabaseBackend).self, engine)
    host.add((any DatabaseAdminBackend).self, engine)
    let rest = RESTOptions(ownerToken: { "owner" })
    remote = DatabaseRemote(
      on: try RESTService(
        network(DatabaseEndpoints().handler(in: Configured(host: host))), at: "http://localhost", options: rest),
      options: options)
  }

  /// Over a network that hands over values.
  static func onFakeNetwork(
    verifier: (any CallerVerifier)? = nil, rules: (any RulesAdministration)? = nil,
    options: DatabaseRemoteOptions = DatabaseRemoteOptions()
  ) throws -> Served {
    try Served(verifier: verifier, rules: rules, options: options) { handler in
      let network = FakeNetwork()
      try network.serve(handler, at: .internet(host: "localhost", port: 80))
      return network
    }
  }

  /// Over a network whose pieces and delays are drawn.
  static func onScriptedNetwork(
    seed: UInt64, verifier: (any CallerVerifier)? = nil, rules: (any RulesAdministration)? = nil,
    options: DatabaseRemoteOptions = DatabaseRemoteOptions()
  ) throws -> Served {
    try Served(verifier: verifier, rules: rules, options: options) { scriptedNetwork(to: $0, seed: seed) }
  }

  /// A network whose pieces and delays are drawn.
  static func scriptedNetwork(to handler: any HTTPHandler, seed: UInt64) -> ScriptedNetwork {
    ScriptedNetwork(to: handler, seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      func conditions(_ random: inout SplitMix) -> ScriptedPipe.Conditions {
        ScriptedPipe.Conditions(
          latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 1 + random.below(40) : nil)
      }
      return .init(fromClient: conditions(&random), fromServer: conditions(&random))
    }
  }
}

/// A connection with what it was sent.
final class Client: Sendable {
  let messages = Log<DatabaseServerMessage>()
  private let connection: any DatabaseConnection

  init(_ backend: any DatabaseBackend, _ request: DatabaseConnectRequest = DatabaseConnectRequest(namespace: "chat")) {
    connection = backend.connect(request) { [messages] in messages.add($0) }
  }

  func send(_ request: DatabaseRequest, id: Int) { connection.send(request, id: id) }

  func close() { connection.close() }

  /// Sends a request, and waits for its reply or the end.
  func call(_ request: DatabaseRequest, id: Int) async -> DatabaseReply? {
    send(request, id: id)
    return await reply(id)
  }

  func reply(_ id: Int) async -> DatabaseReply? {
    await messages.wait { messages in
      messages.contains { message in
        switch message {
        case .reply(id, _), .closed: true
        default: false
        }
      }
    }
    for case .reply(id, let reply) in messages.entries { return reply }
    return nil
  }

  /// Waits for the end, and returns its reason.
  func end() async -> String {
    await messages.wait { $0.contains { if case .closed = $0 { true } else { false } } }
    for case .closed(let reason) in messages.entries { return reason }
    return ""
  }
}
