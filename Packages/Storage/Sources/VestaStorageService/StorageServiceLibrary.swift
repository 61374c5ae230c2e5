public import VestaCore
import VestaCryptoInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStorageBackend
import VestaStoreInterop

/// Registers the embedded object service: provides `any StorageBackend`, and needs a store and a crypto provider.
///
/// The store `storage` and the folder `storage-content` in the project's directory are opened at the first call and
/// closed with the last app of the project. An app may bring its own `StorageServiceOptions`, or a `BlobStore` for the
/// content, by registering a component that provides them. A store that several processes may use has the content
/// itself unless one of the two says otherwise; see ``StorageServiceOptions/sharedContentFolder``.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [StorageServiceLibrary.self, …])
/// ```
public enum StorageServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-storage-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded backend alone: the library of a remote backend may be in the same list.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, as `any StorageBackend`.
  public static func components() -> [Component] {
    [
      EmbeddedService<StorageEngine>.component(
        product: "Storage",
        keeps: ["storage-content", "storage"],
        dependencies: dependencies
      ) { container, home in
        try engine(container, home)
      } close: {
        try await $0.close()
      },
      EmbeddedService<StorageEngine>.provides((any StorageBackend).self) { $0 },
      EmbeddedService<StorageEngine>.provides((any StorageAdminBackend).self) { $0 },
      EmbeddedService<StorageEngine>.contributes((any EventSource).self) { $0.events },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
      .required((any CryptoProvider).self, providedBy: "CryptoLibrary of VestaCrypto (Packages/Crypto)"),
      .optional((any BlobStore).self),
      .optional(StorageServiceOptions.self),
      .optional((any CallerVerifier).self),
      .optional((any AppCheckVerifier).self), .optional(AppCheckEnforcement.self),
      .optional((any StorageGuard).self),
    ]
  }

  private static func engine(_ container: ComponentContainer, _ home: EngineHome) throws -> StorageEngine {
    let stores = try container.require((any StoreProvider).self)
    let options = try container.find(StorageServiceOptions.self) ?? StorageServiceOptions()
    return StorageEngine(
      options: options, crypto: try container.require((any CryptoProvider).self),
      content: try content(container, home, options),
      callers: CallerCheck(
        callers: try container.find((any CallerVerifier).self),
        apps: try container.find((any AppCheckVerifier).self),
        enforcesAppCheck: try container.find(AppCheckEnforcement.self)?.products.contains("storage") ?? false),
      gatekeeper: try container.find((any StorageGuard).self)
    ) {
      try await stores.openStore(named: "storage", in: home.ready(), options: StoreOptions())
    }
  }

  private static func content(
    _ container: ComponentContainer, _ home: EngineHome, _ options: StorageServiceOptions
  ) throws -> ContentPlace {
    if let provided = try container.find((any BlobStore).self) { return .provided(provided) }
    if let shared = options.sharedContentFolder { return .sharedFolder(shared) }
    return .ownFolder(home.path + "/storage-content")
  }
}
