public import VestaCore
import VestaInstallationsBackend
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded service of installations: provides `any InstallationsBackend` and, for the other
/// services, `any InstallationsVerifier`, one engine for both, and needs a store.
///
/// The store `installations` in the project's directory is opened at the first call and closed with the last app of the
/// project. An app may bring its own ``InstallationsServiceOptions`` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(libraries: [InstallationsServiceLibrary.self, SQLiteLibrary.self])
/// ```
public enum InstallationsServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-installations-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded one.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<InstallationsEngine>.component(
        product: "Installations",
        keeps: ["installations"],
        dependencies: [
          .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
          .optional(InstallationsServiceOptions.self),
          .optional((any CallerVerifier).self),
        ]
      ) { container, home in
        let stores = try container.require((any StoreProvider).self)
        return InstallationsEngine(
          options: try container.find(InstallationsServiceOptions.self) ?? InstallationsServiceOptions(),
          callers: CallerCheck(callers: try container.find((any CallerVerifier).self))
        ) {
          try await stores.openStore(named: "installations", in: home.ready(), options: StoreOptions())
        }
      } close: {
        try await $0.close()
      },
      EmbeddedService<InstallationsEngine>.provides((any InstallationsBackend).self) { $0 },
      EmbeddedService<InstallationsEngine>.provides((any InstallationsVerifier).self) { $0 },
    ]
  }
}
