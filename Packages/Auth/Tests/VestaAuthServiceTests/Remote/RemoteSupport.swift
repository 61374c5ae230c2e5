import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthEndpoints
import VestaAuthRemote
import VestaServiceInterop
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaAuthService

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served: Sendable {
  let world: World
  let remote: AuthRemote
  let handler: any HTTPHandler

  /// Serves an engine with an empty store.
  ///
  /// - Parameters:
  ///   - hidesEmails: Whether the project hides which addresses have accounts.
  ///   - isSuite: Whether the word `owner` is a credential, as in local test suites.
  ///   - client: The way from the remote backend to a handler.
  init(
    hidesEmails: Bool = false, isSuite: Bool = false, isDevelopment: Bool = true,
    over client: (any HTTPHandler) async throws -> any HTTPClient
  ) async throws {
    world = World {
      $0.initialConfig.hidesEmails = hidesEmails
      $0.isDevelopment = isSuite
      $0.usesDevelopmentTokens = isSuite
    }
    let host = FakeEndpointHost(project: "demo", clock: .system, isDevelopment: isDevelopment)
    host.add((any AuthBackend).self, world.engine)
    host.add((any AuthAdminBackend).self, world.engine.administration)
    handler = AuthEndpoints().handler(in: host)
    let options = RESTOptions(apiKey: "key", ownerToken: { "owner" })
    let service = try RESTService(try await client(handler), at: "http://localhost:80", options: options)
    remote = AuthRemote(project: "demo", on: service)
  }

  /// Serves an engine on a network in memory.
  static func onFakeNetwork(
    _ network: FakeNetwork = FakeNetwork(), hidesEmails: Bool = false, isSuite: Bool = false, isDevelopment: Bool = true
  ) async throws -> Served {
    try await Served(hidesEmails: hidesEmails, isSuite: isSuite, isDevelopment: isDevelopment) { handler in
      _ = try await network.listen(at: .internet(host: "localhost", port: 80), handler: handler)
      return network
    }
  }

  /// The service as the contracts want it.
  var subject: AuthSubject {
    AuthSubject(
      remote, emailedCode: { [world] in try world.emailedCode($0, to: $1) },
      textedCode: { [world] in try world.textedCode($0) })
  }
}
