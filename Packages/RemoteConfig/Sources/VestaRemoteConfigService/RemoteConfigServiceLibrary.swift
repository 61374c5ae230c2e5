public import VestaCore
import VestaEventsInterop
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded configuration service: provides `any RemoteConfigBackend` and `any RemoteConfigAdminBackend`,
/// one engine for both, and needs a store.
///
/// The store `remote-config` in the project's directory is opened at the first call and closed with the last app of the
/// project. An app may bring its own ``RemoteConfigServiceOptions`` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(libraries: [RemoteConfigLibrary.self, RemoteConfigServiceLibrary.self, SQLiteLibrary.self])
/// let admin = try app.container.require((any RemoteConfigAdminBackend).self)
/// ```
public enum RemoteConfigServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-remote-config-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded one.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<RemoteConfigEngine>.component(
        product: "Remote Config",
        keeps: ["remote-config"],
        dependencies: [
          .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
          .optional(RemoteConfigServiceOptions.self),
          .optional((any CallerVerifier).self),
          .optional((any AppCheckVerifier).self), .optional(AppCheckEnforcement.self),
        ]
      ) { container, home in
        let stores = try container.require((any StoreProvider).self)
        return RemoteConfigEngine(
          projectID: container.options.resourceProjectID,
          options: try container.find(RemoteConfigServiceOptions.self) ?? RemoteConfigServiceOptions(),
          callers: CallerCheck(
            callers: try container.find((any CallerVerifier).self),
            apps: try container.find((any AppCheckVerifier).self),
            enforcesAppCheck: try container.find(AppCheckEnforcement.self)?.products.contains("remoteconfig") ?? false)
        ) {
          try await stores.openStore(named: "remote-config", in: home.ready(), options: StoreOptions())
        }
      } close: {
        try await $0.close()
      },
      EmbeddedService<RemoteConfigEngine>.provides((any RemoteConfigBackend).self) { $0 },
      EmbeddedService<RemoteConfigEngine>.contributes((any EventSource).self) { $0.events },
      EmbeddedService<RemoteConfigEngine>.provides((any RemoteConfigAdminBackend).self) { $0 },
    ]
  }
}
