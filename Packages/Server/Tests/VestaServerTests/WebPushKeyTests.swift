import Testing
import VestaBytes
import VestaMessagingBackend
import VestaMessagingPush
import VestaServiceInterop

@testable import VestaServer

/// The parts of the server for browsers.
@Suite struct WebPushKeyTests {
  @Test func `a project has a key for push services, and refuses browsers with another one`() async throws {
    let host = ServerHost(ServerSettings(project: "demo", isDevelopment: true))
    let key = try await host.backend((any WebPushKeySource).self, project: "demo").publicKey()
    #expect(try Base64.url.decode(key).count == 65)
    let messaging = try host.backend((any MessagingBackend).self, project: "demo")
    func register(_ key: String?) async throws -> String {
      let address = WebPushAddress(
        endpoint: "https://push.example/1", auth: Base64.url.encode([UInt8](repeating: 1, count: 16)),
        p256dh: key ?? "", applicationKey: key)
      let request = RegisterRequest(
        installationID: "c" + String(repeating: "a", count: 21), platform: "web", appID: "1:2:web:3",
        pushAddress: .webPush(address))
      return try await messaging.register(request, context: CallContext(project: "demo"))
    }
    #expect(try await register(key).isEmpty == false)
    await #expect(throws: MessagingServiceError.self) { _ = try await register(nil) }
    let other = try await host.backend((any WebPushKeySource).self, project: "other").publicKey()
    #expect(other != key)
    let error = await #expect(throws: MessagingServiceError.self) { _ = try await register(other) }
    #expect(error?.message.contains("use your own vapidKey") == true)
  }

  @Test(arguments: [true, false])
  func `only in development may an endpoint be on this machine, and the contact is that of the settings`(
    isDevelopment: Bool
  ) async throws {
    var settings = ServerSettings(project: "demo", isDevelopment: isDevelopment)
    settings.pushContact = "mailto:push@example.com"
    let host = ServerHost(settings)
    let options = try host.backend(MessagingPushOptions.self, project: "demo")
    #expect(options.allowsLocalEndpoints == isDevelopment && options.subject == "mailto:push@example.com")
  }
}
