import Testing
import VestaConcurrency
import VestaInstallationsBackendFakes
import VestaRemoteConfigBackend
import VestaRemoteConfigRemote
import VestaServiceInterop
import VestaTesting
import VestaTransportInterop
import VestaTransportInteropFakes

/// Answers that Firebase and the caches before it give, and `vesta` does not.
@Suite(.timeLimit(.minutes(10))) struct AnswerTests {
  private let network = FakeNetwork()
  private let tokens = Log<String?>()

  private func remote(_ status: Int) throws -> RemoteConfigRemote {
    let handler = HTTPClosureHandler { [tokens] request in
      tokens.add(request.fields["x-goog-firebase-installations-auth"])
      return .response(HTTPResponse(HTTPStatus(status)))
    }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    var options = RemoteConfigRemoteOptions()
    options.installation = FakeInstallationSource()
    return RemoteConfigRemote(project: "p", on: try RESTService(network, at: "http://localhost"), options: options)
  }

  @Test(arguments: [(401, true), (503, false), (403, false)])
  func `a token that was refused is not used again, and after other failures it is`(
    _ status: Int, _ isReplaced: Bool
  ) async throws {
    let remote = try remote(status)
    for _ in 0..<2 { await #expect(throws: RemoteConfigServiceError.self) { try await remote.fetch() } }
    let used = tokens.entries
    #expect(used.count == 2 && used[0] != nil && (used[0] != used[1]) == isReplaced)
  }

  @Test func `a cache that says that nothing has changed is believed`() async throws {
    let request = FetchConfigRequest(namespace: "firebase", instance: ConfigInstance(), etag: "e")
    let response = try await remote(304).fetch(request, context: CallContext())
    #expect(response.state == .noChange && response.etag == "e")
  }

  @Test func `a listener that was removed is not told of the end`() async throws {
    let handler = HTTPClosureHandler { _ in .response(HTTPResponse(body: .stream(ByteStream()))) }
    try network.serve(handler, at: .internet(host: "localhost", port: 80))
    let remote = RemoteConfigRemote(project: "p", on: try RESTService(network, at: "http://localhost"))
    let ends = Log<Bool>()
    // The end of the connection is seen by another thread, sooner or later.
    for _ in 0..<50 {
      let listening = remote.listenForInvalidations(
        InvalidationsRequest(namespace: "firebase", lastKnownVersion: 0), context: CallContext(),
        onEnd: { _ in ends.add(true) }
      ) { _ in }
      while network.exchangeCount == 0 { await Task.yield() }
      listening.cancel()
      while network.exchangeCount > 0 { await Task.yield() }
    }
    #expect(ends.entries.isEmpty)
  }

  @Test func `a rollback that may have happened says so, and a fetch can be made again`() async throws {
    let remote = RemoteConfigRemote(
      project: "p", on: try RESTService(CutClient(), at: "http://localhost", options: .owner))
    let fetch = await #expect(throws: RemoteConfigServiceError.self) { try await remote.fetch() }
    #expect(fetch?.code == .unavailable)
    let rollback = await #expect(throws: RemoteConfigServiceError.self) {
      try await remote.rollback(namespace: "firebase", to: 1, user: nil, context: .owner)
    }
    #expect(rollback?.code == .deadlineExceeded)
  }
}
