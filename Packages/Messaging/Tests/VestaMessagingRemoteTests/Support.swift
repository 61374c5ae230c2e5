import VestaInstallationsBackend
import VestaInstallationsBackendFakes
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingEndpoints
import VestaMessagingRemote
import VestaMessagingService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTransportInterop
import VestaTransportInteropFakes

/// Knows the tokens `fis-ID-NUMBER`, from a number on.
final class KnownInstallations: InstallationsVerifier {
  private let first: Int

  init(from first: Int = 0) { self.first = first }

  func verify(token: String, context: CallContext) async throws(InstallationsServiceError) -> VerifiedInstallation {
    let parts = token.split(separator: "-")
    guard parts.count == 3, parts[0] == "fis", let number = Int(parts[2]), number >= first else {
      throw InstallationsServiceError(.unauthenticated, "no token")
    }
    return VerifiedInstallation(id: String(parts[1]), appID: "app")
  }
}

/// An engine behind its endpoints, and a remote backend in front of them.
struct Served {
  let engine: MessagingEngine
  let host: FakeEndpointHost
  let remote: MessagingRemote
  let admin: MessagingAdminRemote
  /// The way to the server, with the credential of its owner.
  let rest: RESTService

  /// - Parameter client: The way from the remote backend to a handler.
  init(
    installations: KnownInstallations = KnownInstallations(),
    options: MessagingRemoteOptions = MessagingRemoteOptions(),
    tuning: MessagingEndpointsTuning = MessagingEndpointsTuning(), clock: ServiceClock = .system,
    over client: (any HTTPHandler) throws -> any HTTPClient
  ) throws {
    let verifier = FakeCallerVerifier()
    verifier.accept(.full, token: "owner")
    var service = MessagingServiceOptions()
    // A server counts deadlines by the clock of its engines.
    service.clock = clock
    engine = MessagingEngine(
      projectID: "demo", senderID: "1", options: service, callers: CallerCheck(callers: verifier)
    ) { ModelStore() }
    host = FakeEndpointHost(project: "demo", clock: clock)
    host.add((any MessagingBackend).self, engine)
    host.add((any MessagingAdminBackend).self, engine)
    host.add((any InstallationsVerifier).self, installations)
    let client = try client(MessagingEndpoints(tuning: tuning).handler(in: host))
    var rest = try RESTService(client, at: "http://localhost:80", clock: clock)
    remote = MessagingRemote(project: "demo", on: rest, options: options) { id in
      FakeInstallationSource(id: id) { "fis-\(id)-\($0)" }
    }
    rest.options.ownerToken = { "owner" }
    self.rest = rest
    admin = MessagingAdminRemote(project: "demo", on: rest, options: options)
  }

  static func onFakeNetwork(
    _ network: FakeNetwork = FakeNetwork(), installations: KnownInstallations = KnownInstallations(),
    options: MessagingRemoteOptions = MessagingRemoteOptions(),
    tuning: MessagingEndpointsTuning = MessagingEndpointsTuning(), clock: ServiceClock = .system
  ) throws -> Served {
    try Served(installations: installations, options: options, tuning: tuning, clock: clock) { handler in
      try network.serve(handler, at: .internet(host: "localhost", port: 80))
      return network
    }
  }

  /// The service as installations and as the owner reach it over the wire.
  var subject: MessagingSubject { MessagingSubject(backend: remote, admin: admin, patience: .seconds(120)) }

  func register(_ id: String = "ada", currentToken: String? = nil) async throws -> String {
    let request = RegisterRequest(installationID: id, platform: "linux", appID: "app", currentToken: currentToken)
    return try await remote.register(request, context: CallContext())
  }

  @discardableResult
  func send(_ text: String, to target: PushMessage.Target) async throws -> String {
    try await engine.send(PushMessage(to: target, data: ["text": text]), isValidateOnly: false, context: .owner)
  }
}
