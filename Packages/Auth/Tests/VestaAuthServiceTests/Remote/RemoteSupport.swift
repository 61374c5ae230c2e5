import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthEndpoints
import VestaAuthRemote
import VestaServiceInterop
import VestaTesting
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

  /// Serves an engine of a local test suite on a network whose pieces and delays are drawn.
  static func onScriptedNetwork(seed: UInt64) async throws -> Served {
    try await Served(isSuite: true) { handler in
      ScriptedNetwork(to: handler, seed: seed) { number in
        var random = SplitMix(seed: seed &+ UInt64(number))
        return .init(fromClient: conditions(&random), fromServer: conditions(&random))
      }
    }
  }

  /// A delay, and pieces that a request or a response is cut into.
  static func conditions(_ random: inout SplitMix) -> ScriptedPipe.Conditions {
    ScriptedPipe.Conditions(
      latency: .milliseconds(random.below(500)), largestPiece: random.oneIn(2) ? 20 + random.below(60) : nil)
  }

  /// The service as the contracts want it.
  var subject: AuthSubject {
    AuthSubject(
      remote, emailedCode: { [world] in try world.emailedCode($0, to: $1) },
      textedCode: { [world] in try world.textedCode($0) })
  }
}
