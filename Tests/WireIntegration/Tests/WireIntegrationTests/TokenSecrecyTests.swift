import Testing
import VestaAppCheckBackend
import VestaAppCheckRemote
import VestaAuthBackend
import VestaAuthRemote
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseRemote
import VestaFirestoreBackend
import VestaFirestoreRemote
import VestaFunctionsBackend
import VestaFunctionsRemote
import VestaInstallationsBackend
import VestaInstallationsRemote
import VestaMessagingBackend
import VestaMessagingRemote
import VestaRemoteConfigBackend
import VestaRemoteConfigRemote
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageRemote
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Every remote backend, with a server on another machine that would receive everything in clear text.
@Suite(.timeLimit(.minutes(10))) struct TokenSecrecyTests {
  private typealias Call = @Sendable (RESTService, CallContext) async throws -> Void

  private static let calls: [(name: String, call: Call)] = [
    (
      "Auth: a password",
      { service, context in
        let request = PasswordSignInRequest(email: "ada@example.com", password: "secret")
        _ = try await AuthRemote(project: "p", on: service).signInWithPassword(request, context: context)
      }
    ),
    (
      "Auth: a refresh token",
      { service, context in
        let request = RefreshRequest(refreshToken: "secret")
        _ = try await AuthRemote(project: "p", on: service).refresh(request, context: context)
      }
    ),
    (
      "App Check: a proof",
      { service, context in
        let remote = AppCheckRemote(project: "p", number: "7", on: service)
        _ = try await remote.exchange(.debug("secret"), appID: "a", context: context)
      }
    ),
    (
      "Firestore: a read",
      { service, context in
        let request = BatchGetDocumentsRequest(database: "projects/p/databases/(default)", documents: [])
        try await FirestoreRemote(on: service).batchGet(request, context: context) { _ in }
      }
    ),
    (
      "Firestore: a call that listens",
      { service, context in
        let remote = FirestoreRemote(on: service)
        let call = try await remote.listen(database: "projects/p/databases/(default)", context: context)
        call.send(.addTarget(Target(id: 1, .documents(["projects/p/databases/(default)/documents/a/b"]))))
        call.finish()
        for try await _ in call.responses {}
      }
    ),
    (
      "Database: a read",
      { service, context in
        let request = DatabaseReadRequest(namespace: "chat", path: "a")
        _ = try await DatabaseRemote(on: service).read(request, context: context)
      }
    ),
    (
      "Storage: metadata",
      { service, context in
        let object = ObjectName(bucket: "b", name: "o")
        _ = try await StorageRemote(on: service).getObject(object, preconditions: .none, context: context)
      }
    ),
    (
      "Storage: an upload",
      { service, context in
        let request = UploadRequest(object: ObjectName(bucket: "b", name: "o"))
        _ = try await StorageRemote(on: service).startUpload(request, context: context)
      }
    ),
    (
      "Functions: a call",
      { service, context in
        let call = FunctionCall(.name("f", region: "us-central1"), data: nil)
        _ = try await FunctionsRemote(project: "p", on: service).call(call, context: context)
      }
    ),
    (
      "Functions: a stream",
      { service, context in
        let call = FunctionCall(.name("f", region: "us-central1"), data: nil)
        for try await _ in FunctionsRemote(project: "p", on: service).stream(call, context: context) {}
      }
    ),
    (
      "Remote Config: a fetch",
      { service, context in
        let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance())
        _ = try await RemoteConfigRemote(project: "p", on: service).fetch(request, context: context)
      }
    ),
    (
      "Installations: a refresh token",
      { service, _ in
        let remote = InstallationsRemote(project: "p", on: service)
        let id = "cABCDEFGHIJKLMNOPQRST0"
        // A call of an installation has this credential, and no other one.
        _ = try await remote.generateToken(id: id, refreshToken: "secret", context: CallContext())
      }
    ),
    (
      "Messaging: a message of the owner",
      { service, _ in
        let admin = MessagingAdminRemote(project: "p", on: service)
        _ = try await admin.send(PushMessage(to: .topic("a")), isValidateOnly: true, context: .owner)
      }
    ),
    (
      "Messaging: the owner's topics",
      { service, _ in
        let admin = MessagingAdminRemote(project: "p", on: service)
        _ = try await admin.subscribe(tokens: ["a:secret"], toTopic: "a", context: .owner)
      }
    ),
  ]

  /// The bytes that a machine has received.
  private struct Machine: Sendable {
    let network = FakeNetwork()
    let received = Log<String>()

    init(_ host: String) throws {
      let handler = HTTPClosureHandler { [received] request in
        .task {
          let bytes = try await request.body.collect(upTo: 100_000)
          let fields = request.fields.map { "\($0.name): \($0.value)" }
          received.add("\(request.target) \(fields) \(String(decoding: bytes, as: UTF8.self))")
          return HTTPResponse(500)
        }
      }
      try network.serve(handler, at: .internet(host: host, port: 80))
    }
  }

  @Test(arguments: [
    CallContext(caller: .credential(.idToken("secret"))), CallContext(appCheck: .token("secret")),
    CallContext(caller: .owner),
  ])
  func `no remote backend sends a token in clear text to another machine`(context: CallContext) async throws {
    // A name that begins as the address of this machine does.
    for host in ["vesta.example", "127.0.0.1.example", "localhost.example"] {
      let machine = try Machine(host)
      let options = RESTOptions(ownerToken: { "secret" })
      let service = try RESTService(machine.network, at: "http://\(host)", options: options)
      for (name, call) in Self.calls {
        do {
          try await call(service, context)
          Issue.record("\(name) has succeeded")
        } catch let error as any ServiceFailure {
          #expect(error.status.code == .failedPrecondition, "\(name): \(error)")
        }
      }
      #expect(machine.received.entries == [])
    }
  }

  @Test func `the same calls reach this machine`() async throws {
    let machine = try Machine("localhost")
    let options = RESTOptions(ownerToken: { "secret" })
    let service = try RESTService(machine.network, at: "http://localhost", options: options)
    let context = CallContext(caller: .credential(.idToken("secret")))
    for (name, call) in Self.calls {
      let before = machine.received.entries.count
      await #expect(throws: (any Error).self) { try await call(service, context) }
      #expect(machine.received.entries.dropFirst(before).contains { $0.contains("secret") }, "\(name)")
    }
  }
}
