import Foundation
import Testing
import VestaAuth
import VestaAuthBackend
import VestaAuthBackendContracts
import VestaAuthEndpoints
import VestaAuthRemote
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaCryptoInterop
import VestaCryptoInteropFakes
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransport
import VestaTransportInterop
import VestaTransportInteropFakes

/// Auth over sockets: its contracts, the client, and what networks put in the place of a service.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AuthWireTests {
  private let sender = RecordingCodeSender()

  private func engine(isSuite: Bool = false) -> AuthEngine {
    var options = AuthServiceOptions()
    (options.isDevelopment, options.usesDevelopmentTokens) = (isSuite, isSuite)
    options.codeSender = sender
    options.passwordScheme = .scrypt(ScryptParameters(costLog2: 4, blockSize: 8, parallelism: 1))
    let plenty = RateLimit(burst: 10_000, refillInterval: .milliseconds(1))
    (options.accountGuesses, options.addressGuesses) = (plenty, plenty)
    (options.digitGuesses, options.codesPerRecipient) = (plenty, plenty)
    return AuthEngine(projectID: "demo", options: options, crypto: rsaKeys.provider()) { ModelStore() }
  }

  private func host(_ engine: AuthEngine) -> FakeEndpointHost {
    let host = FakeEndpointHost(project: "demo")
    host.add((any AuthBackend).self, engine)
    host.add((any AuthAdminBackend).self, engine.administration)
    return host
  }

  /// An app whose users are a server's.
  private func app(_ port: Int) throws -> VestaApp {
    let options = VestaOptions(
      projectID: "demo-\(UUID().uuidString)", backend: .emulators(["auth": "127.0.0.1:\(port)"]))
    options.callbackQueue = DispatchQueue(label: "callbacks")
    return try VestaApp.configure(
      name: "auth-\(UUID().uuidString)", options: options,
      // The engine is in the list as well, and the backend of the options chooses.
      libraries: [AuthLibrary.self, AuthServiceLibrary.self, AuthRemoteLibrary.self, TransportLibrary.self])
  }

  @Test func `the contracts are kept over sockets`() async throws {
    for contract in AuthContracts.all {
      let engine = engine()
      let server = try await SocketServer(AuthEndpoints(), in: host(engine))
      let client = try VestaTransportClient()
      let service = try server.service(client, RESTOptions(apiKey: "key", compression: .gzip))
      let subject = AuthSubject(
        AuthRemote(project: "demo", on: service),
        emailedCode: { [sender] type, recipient in
          try #require(sender.recordedEmails.last { $0.requestType == type && $0.recipient == recipient }).code
        },
        textedCode: { [sender] session in
          try #require(sender.recordedTexts.last { $0.sessionInfo == session }).code
        })
      do {
        try await contract.verify(subject)
      } catch {
        Issue.record("\(contract.name): \(error)")
      }
      await client.close()
      await server.stop()
      try await engine.close()
    }
  }

  @Test(arguments: PasswordImportContracts.all)
  func `imported passwords sign in over small pieces and delays`(_ contract: Contract<PasswordImportSubject>) async {
    let seed = UInt64.random(in: 0...UInt64(UInt32.max))
    let network = ScriptedNetwork(to: AuthEndpoints().handler(in: host(engine(isSuite: true))), seed: seed) { number in
      var random = SplitMix(seed: seed &+ UInt64(number))
      let conditions = { (random: inout SplitMix) in
        ScriptedPipe.Conditions(latency: .milliseconds(random.below(500)), largestPiece: 20 + random.below(60))
      }
      return .init(fromClient: conditions(&random), fromServer: conditions(&random))
    }
    do {
      let options = RESTOptions(apiKey: "key", ownerToken: { "owner" })
      let remote = AuthRemote(
        project: "demo", on: try RESTService(network, at: "http://localhost:80", options: options))
      try await contract.verify(PasswordImportSubject(remote, remote.administration))
    } catch {
      Issue.record("seed \(seed): \(error)")
    }
  }

  @Test func `a user stays signed in while the server is away, and is known again when it is back`() async throws {
    let engine = engine()
    let server = try await SocketServer(AuthEndpoints(), in: host(engine))
    let app = try app(server.port)
    defer { try? FileManager.default.removeItem(at: app.dataDirectory.deletingLastPathComponent()) }
    let auth = try Auth.instance(for: app)
    let made = try await auth.createUser(withEmail: "ada@example.com", password: "correct horse")
    await server.cut()
    let away = await #expect(throws: AuthError.self) { try await made.user.getIDToken(forcingRefresh: true) }
    #expect(away?.code == .networkError)
    #expect(auth.currentUser?.uid == made.user.uid)
    try await server.listen()
    let token = try await made.user.getIDToken(forcingRefresh: true)
    let found = try await engine.lookup(LookupRequest(idToken: token), context: CallContext())
    #expect(found.users.map(\.localID) == [made.user.uid])
    try await made.user.delete()
    #expect(auth.currentUser == nil)
    await app.delete()
    await server.stop()
    try await engine.close()
  }

  @Test func `a page of a network in between signs no user out`() async throws {
    let engine = engine()
    let isCaptive = Locked(false)
    let inner = AuthEndpoints().handler(in: host(engine))
    let server = try VestaTransportServer(loops: 1)
    let handler = CaptiveHandler(inner: inner) { isCaptive.withLock { $0 } }
    let listener = try await server.listen(at: .internet(host: "127.0.0.1", port: 0), handler: handler)
    let app = try app(listener.address.port ?? 0)
    defer { try? FileManager.default.removeItem(at: app.dataDirectory.deletingLastPathComponent()) }
    let auth = try Auth.instance(for: app)
    let user = try await auth.signInAnonymously().user
    isCaptive.withLock { $0 = true }
    let held = await #expect(throws: AuthError.self) { try await user.getIDToken(forcingRefresh: true) }
    #expect(held?.code == .networkError)
    #expect(auth.currentUser?.uid == user.uid)
    isCaptive.withLock { $0 = false }
    _ = try await user.getIDToken(forcingRefresh: true)
    await app.delete()
    await listener.shutDown(within: .zero)
    await server.stop()
    try await engine.close()
  }

  @Test func `useEmulator reaches an emulator from an app of another server`() async throws {
    let (engine, other) = (engine(), engine())
    let server = try await SocketServer(AuthEndpoints(), in: host(engine))
    let second = try await SocketServer(AuthEndpoints(), in: host(other))
    let app = try app(server.port)
    defer { try? FileManager.default.removeItem(at: app.dataDirectory.deletingLastPathComponent()) }
    let auth = try Auth.instance(for: app)
    auth.useEmulator(withHost: "127.0.0.1", port: second.port)
    try await auth.createUser(withEmail: "ada@example.com", password: "correct horse")
    #expect(try await other.administration.queryUsers(QueryUsersRequest(), context: .owner).count == 1)
    #expect(try await engine.administration.queryUsers(QueryUsersRequest(), context: .owner).count == 0)
    await app.delete()
    await server.stop()
    await second.stop()
    try await engine.close()
    try await other.close()
  }
}

/// A network whose user has to sign in first, while it says so.
private struct CaptiveHandler: HTTPHandler {
  let inner: any HTTPHandler
  let isCaptive: @Sendable () -> Bool

  func bodyDelivery(for head: HTTPRequestHead) -> HTTPBodyDelivery { inner.bodyDelivery(for: head) }

  func reply(to request: HTTPRequest) -> HTTPReply {
    guard isCaptive() else { return inner.reply(to: request) }
    return .response(
      HTTPResponse(200, fields: [.contentType: "text/html; charset=utf-8"], body: .text("<html>Welcome!</html>")))
  }
}
