import Testing
import VestaInstallationsBackend
import VestaInstallationsBackendFakes
import VestaRemoteConfigBackend
import VestaRemoteConfigEndpoints
import VestaRemoteConfigService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTransportInterop
import VestaTransportInteropFakes

/// Tokens of installations at the endpoints.
@Suite(.timeLimit(.minutes(10))) struct InstallationTests {
  private func status(_ token: String?, isDevelopment: Bool) async throws -> Int {
    let host = FakeEndpointHost(project: "demo", isDevelopment: isDevelopment)
    let engine = RemoteConfigEngine(projectID: "demo") { ModelStore() }
    host.add((any RemoteConfigBackend).self, engine)
    host.add((any InstallationsVerifier).self, KnownInstallations(["ada"], appID: "1:2:web:3"))
    var fields: HTTPFields = [.contentType: "application/json"]
    if let token { fields.append("x-goog-firebase-installations-auth", token) }
    let request = HTTPRequest(
      .post, "/v1/projects/demo/namespaces/firebase:fetch", authority: "localhost", fields: fields,
      body: .text(#"{"app_instance_id":"ada","app_id":"1:2:web:3"}"#))
    guard case .task(let work) = RemoteConfigEndpoints().handler(in: host).reply(to: request) else { return 0 }
    defer { withExtendedLifetime(engine) {} }
    return try await work().status.code
  }

  @Test func `outside of development a token has to be that of the instance`() async throws {
    #expect(try await status("fis-ada", isDevelopment: false) == 200)
    #expect(try await status("FIS fis-ada", isDevelopment: false) == 200)
    #expect(try await status("fis-bob", isDevelopment: false) == 401)
    #expect(try await status(nil, isDevelopment: false) == 200)
    #expect(try await status("anything", isDevelopment: true) == 200)
  }
}
