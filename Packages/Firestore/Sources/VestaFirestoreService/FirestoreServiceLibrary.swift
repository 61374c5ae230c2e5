import VestaCryptoInterop
import VestaFirestoreBackend
import VestaStoreInterop
public import VestaCore

/// Registers the embedded document engine: provides `any FirestoreBackend`, and needs a store.
///
/// The store `firestore` in the app's data directory is opened at the first call and closed when the app is deleted. An
/// app may bring its own `FirestoreServiceOptions` by contributing a component for them. With a `CryptoProvider` in the
/// app, listeners that resume are told the names of what is still there (`FirestoreServiceOptions.md5`).
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [FirestoreServiceLibrary.self, SQLiteLibrary.self])
/// ```
public enum FirestoreServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-firestore-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The engine behind its protocol, one for each app.
  public static func components() -> [Component] {
    [
      Component(
        (any EmbeddedFirestore).self,
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: "VestaSQLite (keeps everything in a file) or VestaMemoryStore (keeps nothing after the process)"
          ),
          .optional((any CryptoProvider).self),
          .optional(FirestoreServiceOptions.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedFirestoreService(container)
      },
      Component((any FirestoreBackend).self, dependencies: [.required((any EmbeddedFirestore).self)]) { container, _ in
        try container.require((any EmbeddedFirestore).self).engine
      },
    ]
  }
}

/// What the app's backend comes from.
protocol EmbeddedFirestore: Sendable {
  var engine: FirestoreEngine { get }
}

/// The engine of an app, which ends with the app.
struct EmbeddedFirestoreService: EmbeddedFirestore, ComponentLifecycleMaintainer {
  let engine: FirestoreEngine

  init(_ container: ComponentContainer) throws {
    guard case .embedded = container.options.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(container.options.backend)", and the document engine is for the embedded one. \
        Leave FirestoreServiceLibrary out, or use the embedded backend.
        """
      )
    }
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its document engine was being made.")
    }
    let stores = try container.require((any StoreProvider).self)
    let directory = path(of: app.dataDirectory)
    var options = container.resolve(FirestoreServiceOptions.self) ?? FirestoreServiceOptions()
    if options.md5 == nil { options.md5 = container.resolve((any CryptoProvider).self).flatMap(md5) }
    engine = FirestoreEngine(options: options) {
      try await stores.openStore(named: "firestore", in: directory, options: StoreOptions())
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await engine.close()
    } catch {
      log.error("I-FSS000001", "The document engine's store could not be closed: \(error)")
    }
  }
}

/// MD5 by a provider; `nil` where the system's policy bars it.
private func md5(_ crypto: any CryptoProvider) -> (@Sendable ([UInt8]) -> [UInt8])? {
  @Sendable func digest(_ bytes: [UInt8]) -> [UInt8]? { try? crypto.digest(.md5, of: bytes.span.bytes) }
  guard digest([]) != nil else { return nil }
  return { digest($0) ?? [] }
}
