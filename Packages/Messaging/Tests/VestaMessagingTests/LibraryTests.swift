import Foundation
import Testing
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaTesting

@testable import VestaMessaging

/// How the library puts a client together.
@Suite struct LibraryTests {
  private final class CountingMonitor: NetworkMonitor {
    let listeners = Locked(0)

    func addChangeListener(_ onChange: @escaping @Sendable () -> Void) -> ListenerRegistration {
      listeners.withLock { $0 += 1 }
      return ListenerRegistration { [self] in listeners.withLock { $0 -= 1 } }
    }
  }

  private enum PartLibrary: Library {
    static let name = "messaging-parts"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any MessagingBackend).self, caching: .shared) { _ in ScriptedMessagingBackend() },
        Component((any NetworkMonitor).self, caching: .shared) { _ in CountingMonitor() },
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
    let monitor = try #require(try app.container.require((any NetworkMonitor).self) as? CountingMonitor)
    #expect(monitor.listeners.withLock { $0 } == (isEmbedded ? 0 : 1))
    await app.delete()
    #expect(monitor.listeners.withLock { $0 } == 0)
    withExtendedLifetime(messaging) {}
  }
}
