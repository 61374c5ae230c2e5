import Testing
import VestaConcurrency
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@Suite struct ScriptedBackendTests {
  private let backend = ScriptedMessagingBackend()

  @Test func `a registration keeps its token until the script rotates tokens`() async throws {
    var request = RegisterRequest(installationID: "i", platform: "linux", appID: "a")
    let token = try await backend.register(request, context: CallContext())
    request.currentToken = token
    #expect(try await backend.register(request, context: CallContext()) == token)
    backend.state.withLock { $0.rotates = true }
    #expect(try await backend.register(request, context: CallContext()) != token)
    #expect(backend.state.withLock { $0.requests.count } == 3)
  }

  @Test func `calls fail with the scripted code until the script ends it`() async throws {
    backend.fail(.unavailable)
    await #expect(throws: MessagingServiceError.self) {
      try await backend.subscribe(token: "t", toTopic: "news", context: CallContext())
    }
    backend.fail(nil)
    try await backend.subscribe(token: "t", toTopic: "news", context: CallContext())
    #expect(backend.state.withLock { ($0.topicCalls, $0.topics) } == (2, ["+news"]))
  }

  @Test func `a message reaches the open connections alone`() {
    let log = Log<String>()
    let one = backend.connect(token: "1", context: CallContext(), onEnd: { _ in }) { log.add("1 \($0.messageID)") }
    let two = backend.connect(token: "2", context: CallContext(), onEnd: { _ in log.add("2 ended") }) { _ in }
    one.cancel()
    backend.deliver("m", "hello")
    backend.endConnections(nil)
    #expect(log.entries == ["2 ended"])
    #expect(backend.links.isEmpty)
    two.cancel()
  }
}
