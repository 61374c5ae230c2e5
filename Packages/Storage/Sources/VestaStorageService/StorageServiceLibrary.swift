public import VestaCore
import VestaCryptoInterop
import VestaStorageBackend
import VestaStoreInterop

/// Registers the embedded object service: provides `any StorageBackend`, and needs a store and a crypto provider.
///
/// The store `storage` and the folder `storage-content` in the app's data directory are opened at the first call and
/// closed when the app is deleted. An app may bring its own `StorageServiceOptions`, or a `BlobStore` for the content,
/// by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [StorageServiceLibrary.self, …])
/// ```
public enum StorageServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-storage-service"

  /// The version of the package.
  public static var version: String { VestaVersion() }

  /// The engine behind `any StorageBackend`.
  public static func components() -> [Component] {
    [
      Component(
        EmbeddedStorage.self,
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: "VestaSQLite (keeps everything in a file) or VestaMemoryStore (keeps nothing after the process)"
          ),
          .required((any CryptoProvider).self, providedBy: "VestaCrypto"),
          .optional((any BlobStore).self),
          .optional(StorageServiceOptions.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedStorage(container)
      },
      Component((any StorageBackend).self, dependencies: [.required(EmbeddedStorage.self)]) { container, _ in
        try container.require(EmbeddedStorage.self).engine
      },
    ]
  }
}

/// The engine of an app, which ends with the app.
struct EmbeddedStorage: ComponentLifecycleMaintainer {
  let engine: StorageEngine

  init(_ container: ComponentContainer) throws {
    guard case .embedded = container.options.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(container.options.backend)", and there is no remote transport for Storage yet. \
        Use the embedded backend.
        """
      )
    }
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its storage service was being made.")
    }
    let stores = try container.require((any StoreProvider).self)
    let directory = path(of: app.dataDirectory)
    engine = StorageEngine(
      options: container.resolve(StorageServiceOptions.self) ?? StorageServiceOptions(),
      crypto: try container.require((any CryptoProvider).self),
      blobs: container.resolve((any BlobStore).self) ?? FileBlobStore(directory: directory + "/storage-content")
    ) {
      try await stores.openStore(named: "storage", in: directory, options: StoreOptions())
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await engine.close()
    } catch {
      log.error("I-STS000005", "The storage service's store could not be closed: \(error)")
    }
  }
}

private let log = Logger(service: "VestaStorageService")
