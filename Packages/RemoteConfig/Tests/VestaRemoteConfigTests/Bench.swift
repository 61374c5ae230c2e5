import Foundation
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaRemoteConfig

/// An app with a client on a scripted service, and virtual time.
struct Bench: Sendable {
  let directory: TemporaryDirectory
  let app: VestaApp
  let backend = ScriptedRemoteConfigBackend()
  let clock = ManualClock()
  let config: RemoteConfig

  init(in directory: TemporaryDirectory? = nil, network: ManualNetwork? = nil, random: Double = 0.9) throws {
    let directory = try directory ?? TemporaryDirectory("remote-config")
    self.directory = directory
    let options = VestaOptions(
      projectID: "p", backend: .embedded(directory: URL(filePath: directory.path, directoryHint: .isDirectory)))
    options.callbackQueue = .global()
    app = try VestaApp.configure(name: "rc-\(UUID().uuidString)", options: options, libraries: [])
    config = Bench.client(app, backend, clock, network, random: random)
  }

  /// A new client of an app, with the files of the client before.
  static func client(
    _ app: VestaApp, _ backend: ScriptedRemoteConfigBackend, _ clock: ManualClock, _ network: ManualNetwork? = nil,
    random: Double = 0.9
  ) -> RemoteConfig {
    RemoteConfig(
      app: app, namespace: "firebase", backend: backend, network: network,
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }), random: { random })
  }

  func end() async {
    config.end()
    await app.delete()
  }
}
