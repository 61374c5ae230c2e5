import VestaRemoteConfigBackend
import VestaRemoteConfigEndpoints
import VestaRemoteConfigRemote
import VestaRemoteConfigService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTransportInterop
import VestaTransportInteropFakes

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served {
  let engine: RemoteConfigEngine
  let host: FakeEndpointHost
  let remote: RemoteConfigRemote
  let handler: any HTTPHandler

  /// Serves an engine with an empty store.
  ///
  /// - Parameter client: The way from the remote backend to a handler.
  init(
    tuning: RemoteConfigEndpointsTuning = RemoteConfigEndpointsTuning(), rest: RESTOptions = .owner,
    options: RemoteConfigRemoteOptions = RemoteConfigRemoteOptions(),
    over client: (any HTTPHandler) async throws -> any HTTPClient
  ) async throws {
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    engine = RemoteConfigEngine(projectID: "demo", callers: CallerCheck(callers: verifier)) { ModelStore() }
    host = FakeEndpointHost(project: "demo")
    host.add((any RemoteConfigBackend).self, engine)
    host.add((any RemoteConfigAdminBackend).self, engine)
    handler = RemoteConfigEndpoints(tuning: tuning).handler(in: host)
    let service = try RESTService(try await client(handler), at: "http://localhost:80", options: rest)
    remote = RemoteConfigRemote(project: "demo", on: service, options: options)
  }

  /// Serves an engine on a network in memory.
  static func onFakeNetwork(
    _ network: FakeNetwork = FakeNetwork(), tuning: RemoteConfigEndpointsTuning = RemoteConfigEndpointsTuning()
  ) async throws -> Served {
    try await Served(tuning: tuning) { handler in
      _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
      return network
    }
  }
}

extension RESTOptions {
  /// The options of a program that calls as the owner of an emulator.
  static var owner: RESTOptions { RESTOptions(ownerToken: { "owner" }) }
}

extension RemoteConfigAdminBackend {
  @discardableResult
  func publish(_ value: String, over etag: String? = nil) async throws -> StoredTemplate {
    let template = ConfigTemplate(parameters: ["key": ConfigParameter(defaultValue: .value(value))])
    let precondition = etag.map { PublishRequest.Precondition.etag($0) } ?? .any
    return try await publish(PublishRequest(template: template, precondition: precondition), context: .owner)
  }
}

extension RemoteConfigBackend {
  func fetch(_ id: String = "id", context: CallContext = CallContext()) async throws -> FetchConfigResponse {
    var instance = ConfigInstance()
    instance.installationID = id
    return try await fetch(FetchConfigRequest(namespace: "firebase", instance: instance), context: context)
  }
}
