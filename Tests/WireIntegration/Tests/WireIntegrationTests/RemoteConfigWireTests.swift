import Foundation
import Testing
import VestaBytes
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaRemoteConfig
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendContracts
import VestaRemoteConfigEndpoints
import VestaRemoteConfigRemote
import VestaRemoteConfigService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// An engine of Remote Config on sockets.
private final class ConfigServer: Sendable {
  let engine: RemoteConfigEngine
  private let sockets: SocketServer

  init() async throws {
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    engine = RemoteConfigEngine(projectID: "demo", callers: CallerCheck(callers: verifier)) { ModelStore() }
    sockets = try await SocketServer(RemoteConfigEndpoints(), in: OneEngineHost(engine: engine))
  }

  var port: Int { sockets.port }

  func listen() async throws { try await sockets.listen() }

  func cut() async { await sockets.cut() }

  func stop() async throws {
    await sockets.stop()
    try await engine.close()
  }

  func publish(_ values: [String: String]) async throws {
    let template = ConfigTemplate(parameters: values.mapValues { ConfigParameter(defaultValue: .value($0)) })
    _ = try await engine.publish(PublishRequest(template: template, precondition: .any), context: .owner)
  }
}

/// A server that has the engine for every project.
private struct OneEngineHost: EndpointHost {
  let engine: RemoteConfigEngine
  var clock: ServiceClock { .system }
  var defaultProject: String { "demo" }
  var isDevelopment: Bool { true }
  var compression: TransportCompression? { .gzip }

  func backend<Backend: Sendable>(_ type: Backend.Type, project: String) throws(ServiceStatus) -> Backend {
    guard let backend = engine as? Backend else { throw ServiceStatus(.unimplemented, "There is no \(type).") }
    return backend
  }

  func onShutDown(_ work: @escaping @Sendable () -> Void) {}
}

/// Remote Config over sockets: its contract, upstream's requests, and the client.
@Suite(.serialized, .timeLimit(.minutes(5))) struct RemoteConfigWireTests {
  @Test(arguments: RemoteConfigContracts.all)
  func `the contract is kept over sockets`(contract: Contract<RemoteConfigSubject>) async throws {
    let server = try await ConfigServer()
    let client = try VestaTransportClient()
    let options = RESTOptions(ownerToken: { "owner" }, compression: .gzip)
    let service = try RESTService(client, at: "http://127.0.0.1:\(server.port)", options: options)
    let remote = RemoteConfigRemote(project: "demo", on: service)
    try await contract.verify(RemoteConfigSubject(remote, patience: .seconds(120)))
    await client.close()
    try await server.stop()
  }

  @Test func `upstream's requests are answered: relaxed JSON in gzip, and the question of a browser`() async throws {
    let server = try await ConfigServer()
    let client = try VestaTransportClient()
    try await server.publish(["key": "value"])
    let url = try #require(HTTPURL("http://127.0.0.1:\(server.port)/v1/projects/demo/namespaces/firebase:fetch?key=k"))
    let body = try TransportCompression.gzip.compress(Array("{app_instance_id:'i', app_id:'1:2:ios:3'}".utf8))
    let fields: HTTPFields = [.contentType: "application/json", .contentEncoding: "gzip", "if-none-match": "*"]
    let answer = try await client.send(HTTPRequest(.post, url, fields: fields, body: .bytes(body)), timeout: nil)
    let object = try JSONObject(json: try await answer.body.collect(upTo: 10_000))
    #expect(answer.status == .ok && answer.fields.first("etag")?.isEmpty == false)
    #expect(object["entries"]?.object?["key"] == "value" && object["templateVersion"] == "1")
    let question: HTTPFields = [.origin: "https://app.example", "access-control-request-method": "POST"]
    let allowed = try await client.send(HTTPRequest(.options, url, fields: question), timeout: nil)
    #expect(allowed.status == .noContent && allowed.fields["access-control-allow-origin"] == "*")
    await client.close()
    try await server.stop()
  }

  @Test func `a client gets updates, and is connected again when the network is back`() async throws {
    let server = try await ConfigServer()
    let network = FakeNetwork()
    let app = try VestaApp.configure(
      name: "wire-\(UUID().uuidString)",
      options: VestaOptions(
        projectID: "demo-\(UUID().uuidString)", backend: .emulator(host: "127.0.0.1", port: server.port)),
      // The engine is in the list as well, and the backend of the options chooses.
      libraries: [
        RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, RemoteConfigRemoteLibrary.self,
        TransportLibrary.self,
      ])
    app.container.override((any NetworkMonitor).self, with: network as any NetworkMonitor)
    let directory = app.dataDirectory.deletingLastPathComponent().deletingLastPathComponent()
    defer { try? FileManager.default.removeItem(at: directory) }
    let config = try RemoteConfig.instance(for: app)
    try await server.publish(["a": "1"])
    try await config.fetchAndActivate()
    #expect(config["a"].stringValue == "1")

    let updates = EventLog<String>(patience: .seconds(45))
    let registration = config.addOnConfigUpdateListener { update, error in
      updates.record(update.map { $0.updatedKeys.sorted().joined() } ?? "\(String(describing: error))")
    }
    try await server.publish(["a": "1", "b": "2"])
    try await updates.wait(for: "the update") { $0 == ["b"] }

    // Without a connection there is a pause of a minute or more, unless the network is reported to be back.
    await server.cut()
    try await server.publish(["a": "1", "b": "2", "c": "3"])
    try await server.listen()
    let back = ContinuousClock.now
    network.change()
    try await updates.wait(for: "the update after the cut") { $0.count == 2 }
    print("an update arrived \(ContinuousClock.now - back) after the network was back")
    #expect(updates.events == ["b", "bc"])
    registration.remove()
    await app.delete()
    try await server.stop()
  }
}
