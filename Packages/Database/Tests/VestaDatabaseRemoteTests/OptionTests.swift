import Testing
import VestaDatabaseBackend
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

@testable import VestaDatabaseRemote

/// Addresses, tokens and limits by the options of a remote backend.
@Suite(.timeLimit(.minutes(5))) struct OptionTests {
  @Test func `a server of one's own is reached at its address, whatever host it names`() async throws {
    let (opened, network) = (Log<String>(), FakeNetwork())
    let handler = HTTPClosureHandler { request in
      opened.add(request.authority)
      return .webSocket(
        WebSocketService { socket in
          let greeting = #"{"t":"c","d":{"t":"h","d":{"ts":5,"v":"5","h":"inside.example","s":"S"}}}"#
          try await socket.send(.text(greeting))
          for try await _ in socket.messages {}
        })
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://localhost"))
    for _ in 0..<2 {
      let client = Client(remote)
      await client.messages.wait { !$0.isEmpty }
      client.close()
      _ = await client.end()
    }
    #expect(opened.entries == ["localhost", "localhost"])
  }

  @Test(arguments: [DatabaseRemoteOptions(), DatabaseRemoteOptions(sendsUserTokensInQuery: true)])
  func `the token of a user is in the address for Firebase alone`(options: DatabaseRemoteOptions) async throws {
    let (seen, network) = (Log<HTTPRequest>(), FakeNetwork())
    let handler = HTTPClosureHandler { request in
      seen.add(request)
      return .response(HTTPResponse(fields: [.contentType: "application/json"], body: .text("7")))
    }
    try network.serve(handler, at: .internet(host: "vesta.example", port: 443))
    let remote = DatabaseRemote(on: try RESTService(network, at: "https://vesta.example"), options: options)
    let read = DatabaseReadRequest(namespace: "chat", path: "a")
    let ada = CallContext(caller: .credential(.idToken("secret")))
    #expect(try await remote.read(read, context: ada).node == DatabaseNode(.int(7)))
    let request = try #require(seen.entries.first)
    #expect(request.target.contains("auth=secret") == options.sendsUserTokensInQuery)
    #expect(request.fields[.authorization] == (options.sendsUserTokensInQuery ? nil : "Bearer secret"))
  }

  @Test(arguments: [(1_000, 10), (10, 1_000)])
  func `an answer may be as long as the larger limit`(answerBytes: Int, maximumAnswer: Int) async throws {
    let network = FakeNetwork()
    let text = String(repeating: "x", count: 500)
    let response = HTTPResponse(fields: [.contentType: "application/json"], body: .text("\"\(text)\""))
    try network.serve(HTTPClosureHandler { _ in .response(response) }, at: .internet(host: "localhost", port: 80))
    var rest = RESTOptions()
    rest.maximumAnswer = maximumAnswer
    var options = DatabaseRemoteOptions()
    options.tuning.answerBytes = answerBytes
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://localhost", options: rest), options: options)
    let read = DatabaseReadRequest(namespace: "chat", path: "a")
    #expect(try await remote.read(read, context: CallContext()).node == DatabaseNode(.string(text)))
  }

  @Test(arguments: [(true, #""a":"gauth""#), (false, #""a":"auth""#)])
  func `an owner and a user sign in, each by its own request`(isOwner: Bool, action: String) async throws {
    let (received, network) = (Log<String>(), FakeNetwork())
    let handler = HTTPClosureHandler { _ in
      .webSocket(
        WebSocketService { socket in
          try await socket.send(.text(#"{"t":"c","d":{"t":"h","d":{"ts":5,"v":"5","h":"h","s":"S"}}}"#))
          for try await message in socket.messages { if case .text(let text) = message { received.add(text) } }
        })
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let rest = RESTOptions(ownerToken: { "token" })
    let remote = DatabaseRemote(on: try RESTService(network, at: "http://localhost", options: rest))
    let context = isOwner ? CallContext.owner : CallContext(caller: .credential(.idToken("token")))
    let client = Client(remote, DatabaseConnectRequest(namespace: "chat", context: context))
    await received.wait { !$0.isEmpty }
    #expect(received.entries.first?.contains(action) == true)
    client.close()
  }
}
