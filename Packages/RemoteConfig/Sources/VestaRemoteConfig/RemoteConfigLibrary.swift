public import VestaCore
import VestaRemoteConfigBackend
import VestaRemoteConfigInterop
import VestaServiceInterop

/// The library that adds Remote Config to an app.
///
/// It needs a `RemoteConfigBackend`, such as that of `RemoteConfigServiceLibrary` or of `RemoteConfigRemoteLibrary`;
/// with both in the list the backend of the app's options chooses. It offers `RemoteConfigInterop` to other products.
///
/// ```swift
/// try VestaApp.configure(libraries: [RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, SQLiteLibrary.self])
/// try await RemoteConfig.remoteConfig().fetchAndActivate()
/// ```
public enum RemoteConfigLibrary: Library {
  /// The name of the library.
  public static let name = "vesta-remote-config"

  /// The version of the library.
  public static let version = VestaVersion()

  private static let backendLibraries = """
    RemoteConfigServiceLibrary of VestaRemoteConfigService (the embedded engine; Packages/RemoteConfig), \
    which needs a store too, such as SQLiteLibrary of VestaSQLite (Packages/SQLite), or \
    RemoteConfigRemoteLibrary of VestaRemoteConfigRemote (a server, emulators or Firebase; \
    Packages/RemoteConfig) with TransportLibrary of VestaTransport (Packages/Transport)
    """

  private static func provider(_ container: ComponentContainer) throws -> RemoteConfigProvider? {
    guard let app = container.app else { return nil }
    // An engine in the process does not depend on the network.
    let isEmbedded = container.options.backend.kind == .embedded
    return RemoteConfigProvider(
      app: app, backend: try container.require((any RemoteConfigBackend).self),
      network: isEmbedded ? nil : try container.find((any NetworkMonitor).self))
  }

  /// The provider of the instances, one for each namespace, which is also the `RemoteConfigInterop`.
  public static func components() -> [Component] {
    [
      Component(
        RemoteConfigProvider.self,
        dependencies: [
          .required((any RemoteConfigBackend).self, providedBy: backendLibraries),
          .optional((any NetworkMonitor).self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try provider(container)
      },
      Component((any RemoteConfigInterop).self, dependencies: [.required(RemoteConfigProvider.self)]) {
        container, isCacheable in
        isCacheable = true
        return try container.require(RemoteConfigProvider.self)
      },
    ]
  }
}

/// Owns the instances of one app.
final class RemoteConfigProvider: ComponentLifecycleMaintainer {
  private weak let app: VestaApp?
  private let backend: any RemoteConfigBackend
  private let network: (any NetworkMonitor)?
  private let instances = InstanceTable<String, RemoteConfig>()

  init(app: VestaApp, backend: any RemoteConfigBackend, network: (any NetworkMonitor)? = nil) {
    self.app = app
    self.backend = backend
    self.network = network
  }

  func remoteConfig(namespace: String) throws -> RemoteConfig {
    guard ConfigNamespace.isValid(namespace) else { throw VestaError(.creationFailed, ConfigNamespace.rule) }
    guard let app else { throw VestaError(.appDeleted, "The app of this Remote Config has been deleted.") }
    return try instances.instance(for: namespace) {
      RemoteConfig(app: app, namespace: namespace, backend: backend, network: network)
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    for instance in await instances.removeAll() { instance.end() }
  }
}
