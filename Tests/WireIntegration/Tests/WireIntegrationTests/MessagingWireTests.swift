import Foundation
import Testing
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaInstallationsBackend
import VestaInstallationsBackendFakes
import VestaInstallationsEndpoints
import VestaInstallationsRemote
import VestaInstallationsService
import VestaMessaging
import VestaMessagingBackend
import VestaMessagingBackendContracts
import VestaMessagingEndpoints
import VestaMessagingRemote
import VestaMessagingService
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// Knows the tokens `fis-ID` alone.
private struct KnownInstallations: InstallationsVerifier {
  func verify(token: String, context: CallContext) async throws(InstallationsServiceError) -> VerifiedInstallation {
    guard token.hasPrefix("fis-") else { throw InstallationsServiceError(.unauthenticated, "no token") }
    return VerifiedInstallation(id: String(token.dropFirst(4)), appID: "app")
  }
}

/// The routes of Messaging and of installations at one port, as `vesta` has them.
private struct BothEndpoints: EndpointProvider {
  let product = "all"
  private let parts: [any EndpointProvider] = [MessagingEndpoints(), InstallationsEndpoints()]

  func serves(_ head: HTTPRequestHead) -> Bool { parts.contains { $0.serves(head) } }

  func handler(in host: any EndpointHost) -> any HTTPHandler {
    let handlers = parts.map { ($0, $0.handler(in: host)) }
    return Choice(handlers: handlers)
  }

  private struct Choice: HTTPHandler {
    let handlers: [(any EndpointProvider, any HTTPHandler)]

    private func handler(for head: HTTPRequestHead) -> (any HTTPHandler)? {
      handlers.first { $0.0.serves(head) }?.1
    }

    func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery {
      handler(for: head)?.bodyDelivery(for: head) ?? .collected(upTo: 0)
    }

    func reply(to request: HTTPRequest) -> HTTPReply {
      let head = HTTPRequestHead(method: request.method, target: request.target, fields: request.fields)
      return handler(for: head)?.reply(to: request) ?? .response(HTTPResponse(404))
    }
  }
}

/// An engine of Messaging on sockets.
private struct MessagingServer {
  let engine: MessagingEngine
  let installations: InstallationsEngine
  let sockets: SocketServer

  init(_ verifier: (any InstallationsVerifier)? = nil) async throws {
    let callers = FakeCallerVerifier()
    callers.accept(.full, token: "owner")
    engine = MessagingEngine(projectID: "demo", senderID: "1", callers: CallerCheck(callers: callers)) { ModelStore() }
    installations = InstallationsEngine { ModelStore() }
    let host = FakeEndpointHost(project: "demo")
    host.add((any MessagingBackend).self, engine)
    host.add((any MessagingAdminBackend).self, engine)
    host.add((any InstallationsBackend).self, installations)
    host.add((any InstallationsVerifier).self, verifier ?? installations)
    sockets = try await SocketServer(BothEndpoints(), in: host)
  }

  func send(_ text: String, to target: PushMessage.Target) async throws {
    _ = try await engine.send(PushMessage(to: target, data: ["text": text]), isValidateOnly: false, context: .owner)
  }

  func stop() async throws {
    await sockets.stop()
    try await engine.close()
    try await installations.close()
  }
}

/// Messaging over sockets: its contract, and the client.
@Suite(.serialized, .timeLimit(.minutes(5))) struct MessagingWireTests {
  @Test(arguments: MessagingContracts.all)
  func `the contract is kept over sockets`(contract: Contract<MessagingSubject>) async throws {
    let server = try await MessagingServer(KnownInstallations())
    let client = try VestaTransportClient()
    let remote = MessagingRemote(project: "demo", on: try server.sockets.service(client)) { id in
      FakeInstallationSource(id: id) { _ in "fis-\(id)" }
    }
    try await contract.verify(
      MessagingSubject(backend: remote, admin: server.engine, patience: .seconds(120)))
    await client.close()
    try await server.stop()
  }

  @Test func `a client with a separate installation receives, also after the network was cut`() async throws {
    let server = try await MessagingServer()
    let network = FakeNetwork()
    let options = VestaOptions(
      projectID: "demo", backend: .emulator(host: "127.0.0.1", port: server.sockets.port))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    let app = try VestaApp.configure(
      name: "wire-\(UUID().uuidString)", options: options,
      // The engine is in the list as well, and the backend of the options chooses.
      libraries: [
        MessagingLibrary.self, MessagingServiceLibrary.self, MessagingRemoteLibrary.self,
        InstallationsRemoteLibrary.self, TransportLibrary.self,
      ])
    app.container.override((any NetworkMonitor).self, with: network as any NetworkMonitor)
    let directory = app.dataDirectory
    defer { try? FileManager.default.removeItem(at: directory) }
    let messaging = try #require(try app.container.require(Messaging.self) as Messaging?)

    let token = try await messaging.token()
    let id = try await server.engine.registration(token: token, context: .owner).installationID
    #expect(id == app.installationID)
    try await messaging.subscribe(toTopic: "news")
    let texts = EventLog<String>(patience: .seconds(60))
    let loop = Task {
      for await message in messaging.foregroundMessages { texts.record(message.data["text"] ?? "") }
    }
    try await server.send("a", to: .topic("news"))
    try await texts.wait(for: "the first message") { $0 == ["a"] }

    await server.sockets.cut()
    try await server.send("b", to: .token(token))
    try await server.sockets.listen()
    network.change()
    try await texts.wait(for: "the message after the cut") { $0.last == "b" }
    #expect(Set(texts.events) == ["a", "b"] && texts.events.count == 2)
    loop.cancel()
    await app.delete()
    try await server.stop()
  }
}
