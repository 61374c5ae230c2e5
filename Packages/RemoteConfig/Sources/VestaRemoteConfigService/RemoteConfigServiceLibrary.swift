public import VestaCore
import VestaRemoteConfigBackend
import VestaStoreInterop

/// Registers the embedded configuration service: provides `any RemoteConfigBackend` and `any RemoteConfigAdminBackend`,
/// one engine for both, and needs a store.
///
/// The store `remote-config` in the app's data directory is opened at the first call and closed when the app is
/// deleted. An app may bring its own ``RemoteConfigServiceOptions`` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(libraries: [RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, SQLiteLibrary.self])
/// let admin = try app.container.require((any RemoteConfigAdminBackend).self)
/// ```
public enum RemoteConfigServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-remote-config-service"

  /// The version of the package.
  public static var version: String { VestaVersion() }

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    let engine = Dependency.required((any EmbeddedRemoteConfig).self)
    return [
      Component(
        (any EmbeddedRemoteConfig).self,
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: "VestaSQLite (keeps everything in a file) or VestaMemoryStore (keeps nothing after the process)"
          ),
          .optional(RemoteConfigServiceOptions.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedRemoteConfigService(container)
      },
      Component((any RemoteConfigBackend).self, dependencies: [engine]) { container, _ in
        try container.require((any EmbeddedRemoteConfig).self).engine
      },
      Component((any RemoteConfigAdminBackend).self, dependencies: [engine]) { container, _ in
        try container.require((any EmbeddedRemoteConfig).self).engine
      },
    ]
  }
}

/// What both protocols of an app come from: one engine.
protocol EmbeddedRemoteConfig: Sendable {
  var engine: RemoteConfigEngine { get }
}

/// The engine of an app, which ends with the app.
struct EmbeddedRemoteConfigService: EmbeddedRemoteConfig, ComponentLifecycleMaintainer {
  let engine: RemoteConfigEngine

  init(_ container: ComponentContainer) throws {
    let appOptions = container.options
    guard case .embedded = appOptions.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(appOptions.backend)", and there is no remote transport for Remote Config yet. \
        Use the embedded backend.
        """
      )
    }
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its configuration service was being made.")
    }
    let stores = try container.require((any StoreProvider).self)
    let directory = path(of: app.dataDirectory)
    engine = RemoteConfigEngine(
      projectID: appOptions.projectID ?? "no-project",
      options: container.resolve(RemoteConfigServiceOptions.self) ?? RemoteConfigServiceOptions()
    ) {
      try await stores.openStore(named: "remote-config", in: directory, options: StoreOptions())
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await engine.close()
    } catch {
      log.error("I-RCS000001", "The configuration service's store could not be closed: \(error)")
    }
  }
}

private let log = Logger(service: "VestaRemoteConfigService")
