import Foundation
import Testing
import VestaConcurrency
@_spi(VestaTesting) import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaRemoteConfig

/// How the library puts a client together.
@Suite struct LibraryTests {
  private enum PartLibrary: Library {
    static let name = "remote-config-parts"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any RemoteConfigBackend).self, caching: .shared) { _ in ScriptedRemoteConfigBackend() },
        Component((any NetworkMonitor).self, caching: .shared) { _ in ManualNetwork() },
      ]
    }
  }

  @Test(arguments: [true, false])
  func `the network is watched where the service is reached by it, until the app is deleted`(
    isEmbedded: Bool
  ) async throws {
    let keeper = try TemporaryDirectory("remote-config")
    let options = VestaOptions(
      projectID: "p",
      backend: isEmbedded
        ? .embedded(directory: URL(filePath: keeper.path, directoryHint: .isDirectory))
        : .emulator(host: "127.0.0.1", port: 1))
    let app = try VestaApp.configure(
      name: "rc-\(UUID().uuidString)", options: options, libraries: [RemoteConfigLibrary.self, PartLibrary.self])
    defer { try? FileManager.default.removeItem(at: app.dataDirectory) }
    let config = try RemoteConfig.instance(for: app)
    let network = try #require(try app.container.require((any NetworkMonitor).self) as? ManualNetwork)
    #expect(network.listenerCount == (isEmbedded ? 0 : 1))
    await app.delete()
    #expect(network.listenerCount == 0)
    withExtendedLifetime(config) {}
  }
}
