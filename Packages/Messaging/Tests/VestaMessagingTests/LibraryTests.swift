import Foundation
import Testing
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaMessaging

/// How the library puts a client together.
@Suite struct LibraryTests {
  private enum PartLibrary: Library {
    static let name = "messaging-parts"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any MessagingBackend).self, caching: .shared) { _ in ScriptedMessagingBackend() },
        Component((any NetworkMonitor).self, caching: .shared) { _ in ManualNetwork() },
      ]
    }
  }

  @Test(arguments: [true, false])
  func `the network is watched where the service is reached by it, until the app is deleted`(
    isEmbedded: Bool
  ) async throws {
    let keeper = try TemporaryDirectory("messaging")
    let options = VestaOptions(
      projectID: "p",
      backend: isEmbedded
        ? .embedded(directory: URL(filePath: keeper.path, directoryHint: .isDirectory))
        : .emulator(host: "127.0.0.1", port: 1))
    let app = try VestaApp.configure(
      name: "msg-\(UUID().uuidString)", options: options, libraries: [MessagingLibrary.self, PartLibrary.self])
    defer { try? FileManager.default.removeItem(at: app.dataDirectory) }
    app.isDataCollectionDefaultEnabled = false
    let messaging = try Messaging.instance(for: app)
    let network = try #require(try app.container.require((any NetworkMonitor).self) as? ManualNetwork)
    #expect(network.listenerCount == (isEmbedded ? 0 : 1))
    await app.delete()
    #expect(network.listenerCount == 0)
    withExtendedLifetime(messaging) {}
  }
}
