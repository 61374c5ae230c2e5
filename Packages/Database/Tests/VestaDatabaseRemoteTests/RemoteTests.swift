import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaDatabaseBackendFakes
import VestaDatabaseEndpoints
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseRemote
@testable import VestaDatabaseService

/// The remote backend on a network: hosts, tokens, failures and the end of connections.
@Suite(.timeLimit(.minutes(10))) struct RemoteTests {
  /// A server that answers the opening of a WebSocket with texts, and keeps what it is sent.
  private func server(
    _ opened: Log<HTTPRequest>, _ received: Log<String>, _ texts: @escaping @Sendable (HTTPRequest) -> [String]
  ) -> HTTPClosureHandler {
    HTTPClosureHandler { request in
      opened.add(request)
      return .webSocket(
        WebSocketService { socket in
          for text in texts(request) { try await socket.send(.text(text)) }
          for try await message in socket.messages { if case .text(let text) = message { received.add(text) } }
        })
    }
  }

  private static func greeting(_ host: String) -> String {
    #"{"t":"c","d":{"t":"h","d":{"ts":5,"v":"5","h":"\#(host)","s":"S"}}}"#
  }

  @Test func `Firebase is reached at the host of the database, and then at the host that it names`() async throws {
    let (opened, received) = (Log<HTTPRequest>(), Log<String>())
    let network = FakeNetwork()
    let handler = server(opened, received) { request in
      request.authority == "chat.firebaseio.com"
        ? [#"{"t":"c","d":{"t":"r","d":"s-1.firebaseio.com"}}"#] : [Self.greeting("s-2.firebaseio.com")]
    }
    for host in ["chat", "s-1", "s-2"] {
      try network.serve(handler, at: .internet(host: "\(host).firebaseio.com", port: 443))
    }
    let remote = DatabaseRemote(
      on: try RESTService(network, at: "https://firebaseio.com"), options: .firebase)
    for number in 0..<2 {
      let client = Client(remote, DatabaseConnectRequest(namespace: "chat", lastSession: number == 0 ? nil : "S"))
      await client.messages.wait { !$0.isEmpty }
      client.close()
      _ = await client.end()
    }
    #expect(
      opened.entries.map { "\($0.authority)\($0.target)" } == [
        "chat.firebaseio.com/.ws?v=5&ns=chat", "s-1.firebaseio.com/.ws?v=5&ns=chat",
        "s-2.firebaseio.com/.ws?v=5&ls=S&ns=chat",
      ])
    // A host that is down is forgotten with the connection that did not reach it.
    network.setDown(true)
    _ = await Client(remote).end()
    network.setDown(false)
    let client = Client(remote)
    await client.messages.wait { !$0.isEmpty }
    #expect(opened.entries.dropFirst(3).first?.authority == "chat.firebaseio.com")
  }

  @Test func `the address of a database decides where Firebase's domain has no host for it`() async throws {
    let (opened, received) = (Log<HTTPRequest>(), Log<String>())
    let network = FakeNetwork()
    let handler = server(opened, received) { [Self.greeting($0.authority)] }
    try network.serve(handler, at: .internet(host: "chat.europe-west1.firebasedatabase.app", port: 443))
    let remote = DatabaseRemote(
      on: try RESTService(network, at: "https://firebaseio.com"), options: .firebase)
    let client = Client(
      remote,
      DatabaseConnectRequest(namespace: "chat", origin: "https://chat.europe-west1.firebasedatabase.app"))
    await client.messages.wait { !$0.isEmpty }
    #expect(opened.entries.count == 1)
  }

  @Test func `a token is never sent in clear text to another machine`() async throws {
    let (opened, received) = (Log<HTTPRequest>(), Log<String>())
    let network = FakeNetwork()
    try network.serve(
      server(opened, received) { [Self.greeting($0.authority)] }, at: .internet(host: "vesta.example", port: 80))
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://vesta.example"))
    let client = Client(remote)
    client.send(.authenticate(token: "secret"), id: 1)
    #expect(await client.reply(1) == nil)
    #expect(client.messages.entries.contains { if case .failed = $0 { true } else { false } })

    let own = Client(
      remote, DatabaseConnectRequest(namespace: "chat", context: CallContext(caller: .credential(.idToken("secret")))))
    _ = await own.end()
    let proof = Client(
      remote, DatabaseConnectRequest(namespace: "chat", context: CallContext(appCheck: .token("secret"))))
    _ = await proof.end()
    let read = DatabaseReadRequest(namespace: "chat", path: "a")
    for options in [DatabaseRemoteOptions(), DatabaseRemoteOptions(sendsUserTokensInQuery: true)] {
      let remote = DatabaseRemote(on: try RESTService(network, at: "http://vesta.example"), options: options)
      let error = await #expect(throws: DatabaseServiceError.self) {
        try await remote.read(read, context: CallContext(caller: .credential(.idToken("secret"))))
      }
      #expect(error?.code == .failedPrecondition)
    }
    #expect(!received.entries.joined().contains("secret"))
    #expect(!opened.entries.contains { "\($0.target) \($0.fields.map(\.value))".contains("secret") })
  }

  @Test func `a connection belongs to its own caller, and owners need a credential`() async throws {
    let guardian = ReadingCallerVerifier { (token) async throws(ServiceStatus) in
      if token == "owner" { return .owner }
      return .user(VerifiedUser(uid: token))
    }
    let served = try Served.onFakeNetwork(verifier: guardian)
    let owner = Client(served.remote, DatabaseConnectRequest(namespace: "chat", context: .owner))
    #expect(await owner.call(.put("a", DatabaseNode(.int(1)), hash: nil), id: 1)?.status == .ok)
    let ada = CallContext(caller: .credential(.idToken("ada")))
    let user = Client(served.remote, DatabaseConnectRequest(namespace: "chat", context: ada))
    #expect(await user.call(.get("a", .all), id: 1)?.node == DatabaseNode(.int(1)))
    let known = CallContext(caller: .user(VerifiedUser(uid: "ada")))
    #expect(
      await Client(served.remote, DatabaseConnectRequest(namespace: "chat", context: known)).end().isEmpty == false)
    let poor = DatabaseRemote(on: try RESTService(FakeNetwork(), at: "http://localhost"))
    #expect(
      await Client(poor, DatabaseConnectRequest(namespace: "chat", context: .owner)).end().contains("credential"))
  }

  @Test func `a page of a hotel in the place of the service is a service that cannot be reached`() async throws {
    let network = FakeNetwork()
    let page = HTTPResponse(fields: [.contentType: "text/html"], body: .text("<html>Sign in"))
    try network.serve(
      HTTPClosureHandler { _ in .response(page) }, at: .internet(host: "localhost", port: 80))
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://localhost"))
    let error = await #expect(throws: DatabaseServiceError.self) {
      try await remote.read(DatabaseReadRequest(namespace: "chat", path: "a"), context: CallContext())
    }
    #expect(error?.code == .unavailable)
    let client = Client(remote)
    #expect(await client.end().contains("200"))
    #expect(client.messages.entries.count == 1)
  }

  @Test func `a connection that is closed while it opens ends once, and opens nothing`() async throws {
    let network = FakeNetwork()
    network.setSilent(true)
    let (opened, received) = (Log<HTTPRequest>(), Log<String>())
    try network.serve(server(opened, received) { _ in [] }, at: .internet(host: "localhost", port: 80))
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://localhost"))
    for _ in 0..<20 {
      let client = Client(remote)
      client.send(.put("a", DatabaseNode(.int(1)), hash: nil), id: 1)
      client.close()
      #expect(await client.end() == "The connection was closed.")
      #expect(client.messages.entries.count == 1)
    }
    #expect(opened.entries.isEmpty)
  }

  @Test func `a query without its index is read with a warning where the request allows it`() async throws {
    let served = try Served.onFakeNetwork()
    var random = SplitMix(seed: 3)
    let tree = DatabaseNode(children: [
      ("x", DatabaseNode(children: [("size", DatabaseNode(.int(2)))])),
      ("y", DatabaseNode(children: [("size", DatabaseNode(.int(1)))], priority: .int(random.below(9) > 4 ? 1 : 2))),
    ])
    _ = try await served.remote.write(
      DatabaseWriteRequest(namespace: "chat", path: "rooms", .put(tree)), context: CallContext())
    let spec = DatabaseQuerySpec(index: .child("size"), limit: .init(1, .first))
    let result = try await served.remote.read(
      DatabaseReadRequest(namespace: "chat", path: "rooms", spec: spec), context: CallContext())
    #expect(result.warnings == ["no_index"])
    #expect(result.node == DatabaseNode(children: [("y", tree["y" as DatabaseKey])]))
    let whole = try await served.remote.read(
      DatabaseReadRequest(namespace: "chat", path: "rooms"), context: CallContext())
    #expect(whole.node == tree && whole.warnings.isEmpty)
  }

  @Test func `a write that is cut anywhere is done or not, and says which as far as it knows`() async throws {
    var outcomes: [ServiceCode?: Int] = [:]
    for offset in stride(from: 0, to: 420, by: 3) {
      let served = try Served { handler in
        ScriptedNetwork(to: handler, seed: UInt64(offset)) { number in
          if number > 0 { return .init() }
          return offset % 2 == 0
            ? .init(fromClient: .init(largestPiece: 3, cutAfter: offset))
            : .init(fromServer: .init(largestPiece: 3, cutAfter: offset))
        }
      }
      let write = DatabaseWriteRequest(namespace: "chat", path: "n", .put(DatabaseNode(.incrementInt(1))))
      var code: ServiceCode?
      do throws(DatabaseServiceError) {
        _ = try await served.remote.write(write, context: CallContext())
      } catch {
        code = error.code
      }
      await served.engine.settle()
      let read = DatabaseReadRequest(namespace: "chat", path: "n")
      let sum = try await served.remote.read(read, context: CallContext()).node.leaf?.number ?? 0
      switch code {
      case nil: #expect(sum == 1, "offset \(offset)")
      case .deadlineExceeded: #expect(sum <= 1, "offset \(offset)")
      default: #expect(sum == 0, "offset \(offset): \(String(describing: code))")
      }
      outcomes[code, default: 0] += 1
    }
    #expect((outcomes[nil] ?? 0) > 0 && (outcomes[.deadlineExceeded] ?? 0) > 0, "\(outcomes)")
  }
}
