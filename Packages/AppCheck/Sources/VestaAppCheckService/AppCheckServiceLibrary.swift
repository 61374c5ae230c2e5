import VestaAppCheckBackend
public import VestaCore
import VestaCryptoInterop
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded service of App Check: provides `any AppCheckBackend` and, for the other services,
/// `any AppCheckVerifier`, one engine for both, and needs a store and a crypto provider.
///
/// The store `app-check` in the project's directory is opened at the first call and closed with the last app of the
/// project. An app may bring its own ``AppCheckServiceOptions`` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(libraries: [AppCheckServiceLibrary.self, CryptoLibrary.self, SQLiteLibrary.self])
/// ```
public enum AppCheckServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-app-check-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded one.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<AppCheckEngine>.component(
        product: "App Check",
        keeps: ["app-check"],
        dependencies: [
          .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
          .required((any CryptoProvider).self, providedBy: "CryptoLibrary of VestaCrypto (Packages/Crypto)"),
          .optional(AppCheckServiceOptions.self),
          .optional((any CallerVerifier).self),
        ]
      ) { container, home in
        let stores = try container.require((any StoreProvider).self)
        return AppCheckEngine(
          projectID: container.options.resourceProjectID, projectNumber: container.options.gcmSenderID,
          crypto: try container.require((any CryptoProvider).self),
          options: try container.find(AppCheckServiceOptions.self) ?? AppCheckServiceOptions(),
          callers: CallerCheck(callers: try container.find((any CallerVerifier).self))
        ) {
          try await stores.openStore(named: "app-check", in: home.ready(), options: StoreOptions())
        }
      } close: {
        try await $0.close()
      },
      EmbeddedService<AppCheckEngine>.provides((any AppCheckBackend).self) { $0 },
      EmbeddedService<AppCheckEngine>.provides((any AppCheckVerifier).self) { $0 },
    ]
  }
}
