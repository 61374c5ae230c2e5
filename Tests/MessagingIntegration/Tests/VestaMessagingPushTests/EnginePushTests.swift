import Testing
import VestaBytes
import VestaMessagingBackend
import VestaMessagingPush
import VestaMessagingService
import VestaServiceInterop
import VestaStoreInteropFakes
import VestaTesting
import VestaTransportInterop

/// The engine with the transport of browsers.
@Suite(.timeLimit(.minutes(10))) struct EnginePushTests {
  @Test func `a message reaches the browser, and an expired subscription ends the registration`() async throws {
    let (service, store) = (try ScriptedPushService(), ModelStore())
    let push = transport(service)
    let engine = MessagingEngine(projectID: "demo", senderID: "1", transports: [push]) { store }
    let key = try await push.publicKey()
    func request(_ id: String, _ endpoint: String, _ key: String?) -> RegisterRequest {
      RegisterRequest(
        installationID: id, platform: "web", appID: "1:2:web:3", pushAddress: service.address(endpoint, key: key))
    }
    await #expect(throws: MessagingServiceError.self) {
      try await engine.register(
        request("c" + String(repeating: "a", count: 21), "https://p.example/1", nil), context: CallContext())
    }
    let token = try await engine.register(
      request("c" + String(repeating: "a", count: 21), "https://p.example/1", key), context: CallContext())
    let gone = try await engine.register(
      request("c" + String(repeating: "b", count: 21), "https://p.example/gone", key), context: CallContext())
    let commits = store.commits
    for target in [token, gone] {
      _ = try await engine.send(
        PushMessage(to: .token(target), data: ["a": "b"]), isValidateOnly: false, context: .owner)
    }
    // The engine hands messages over in the background, and commits the end of the registration.
    for await _ in commits {
      do {
        _ = try await engine.registration(token: gone, context: .owner)
      } catch {
        #expect(error.reason == .unregistered)
        break
      }
    }
    await service.log.wait(for: 2)
    let accepted = service.requests.filter { $0.target == "/1" }
    #expect(accepted.count == 1)
    #expect(try service.payload(of: try #require(accepted.first))["data"] == ["a": "b"])
    #expect(try await engine.registration(token: token, context: .owner).platform == "web")
    try await engine.close()
  }
}
