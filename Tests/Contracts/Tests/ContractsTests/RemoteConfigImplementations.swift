import Foundation
import Testing
import VestaConcurrency
import VestaCore
import VestaMemoryStore
import VestaRemoteConfig
import VestaRemoteConfigBackend
import VestaRemoteConfigInterop
import VestaRemoteConfigInteropContracts
import VestaRemoteConfigInteropFakes
import VestaRemoteConfigService
import VestaServiceInterop
import VestaTesting

@Suite struct RemoteConfigImplementations {
  static let all: [Implementation<RemoteConfigInteropSubject>] = [
    Implementation("FakeRemoteConfig") { fake() },
    Implementation("RemoteConfig on its engine") { try remoteConfig() },
  ]

  @Test(arguments: all)
  func `rollouts keep every promise`(_ implementation: Implementation<RemoteConfigInteropSubject>) async {
    await implementation.keeps(RemoteConfigInteropContracts.all)
  }

  private static func fake() -> RemoteConfigInteropSubject {
    let fake = FakeRemoteConfig()
    return RemoteConfigInteropSubject(fake) { value in
      let assignments = value.map {
        [RolloutAssignment(rolloutId: "r", variantId: "v", templateVersion: 1, parameterKey: "key", parameterValue: $0)]
      }
      fake.activate(assignments ?? [])
    }
  }

  /// The client, whose values are from templates that the owner publishes.
  private static func remoteConfig() throws -> RemoteConfigInteropSubject {
    let directory = try TemporaryDirectory("rollouts")
    let app = try VestaApp.configure(
      name: "rollouts-\(UUID().uuidString)",
      options: VestaOptions(projectID: "p", backend: .embedded(directory: URL(filePath: directory.path))),
      libraries: [RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, MemoryStoreLibrary.self])
    let admin = try app.container.require((any RemoteConfigAdminBackend).self)
    let config = try RemoteConfig.instance(for: app)
    let published = Locked<String?>(nil)
    return RemoteConfigInteropSubject(try app.container.require((any RemoteConfigInterop).self)) { [directory] value in
      _ = directory
      let isNew = published.withLock { published in
        defer { published = value }
        return published != value
      }
      // The same template again would be a new version, and so a new state.
      if isNew {
        let parameters = value.map {
          ["key": ConfigParameter(defaultValue: .rollout(id: "r", value: $0, percent: 100))]
        }
        _ = try await admin.publish(
          PublishRequest(template: ConfigTemplate(parameters: parameters ?? [:]), precondition: .any), context: .owner)
      }
      _ = try await config.fetch(withExpirationDuration: 0)
      try await config.activate()
    }
  }
}
