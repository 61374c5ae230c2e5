import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigBackendFakes
import VestaRemoteConfigInterop
import VestaRemoteConfigInteropContracts
import VestaTesting

@testable import VestaRemoteConfig

@Suite struct RolloutTests {
  @Test(arguments: RemoteConfigInteropContracts.all)
  func `the client keeps the contract of its seam`(contract: Contract<RemoteConfigInteropSubject>) async throws {
    let backend = ScriptedRemoteConfigBackend()
    let directory = try TemporaryDirectory("remote-config")
    let options = VestaOptions(
      projectID: "p", backend: .embedded(directory: URL(filePath: directory.path, directoryHint: .isDirectory)))
    let app = try VestaApp.configure(name: "rc-\(UUID().uuidString)", options: options, libraries: [])
    let provider = RemoteConfigProvider(app: app, backend: backend)
    let config = try provider.remoteConfig(namespace: "firebase")
    try await contract.verify(
      RemoteConfigInteropSubject(provider) { value in
        let key = ConfigRollout(rolloutID: "r", variantID: "treatment", affectedParameterKeys: ["key", "absent"])
        let isSame = backend.state.withLock { state in
          state.rollouts = value == nil ? [] : [key]
          return state.entries["key"] == value && state.version > 0
        }
        // The same value again under the same version: nothing is announced.
        if !isSame { backend.publish(value.map { ["key": $0] } ?? [:]) }
        _ = try await config.fetch(withExpirationDuration: 0)
        try await config.activate()
      })
    // A namespace that cannot be one is logged, and stops nothing.
    provider.registerRolloutsStateSubscriber(Nobody(), for: "../x")
    await provider.appWillBeDeleted(app)
    await app.delete()
  }

  private struct Nobody: RolloutsStateSubscriber {
    func rolloutsStateDidChange(_ rolloutsState: RolloutsState) {}
  }

  @Test func `the component of the app is the provider of its instances`() throws {
    let interop = RemoteConfigLibrary.components()
    #expect(interop.count == 2)
  }
}
