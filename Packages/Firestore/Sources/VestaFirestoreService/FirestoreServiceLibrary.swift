public import VestaCore
import VestaCryptoInterop
import VestaEventsInterop
import VestaFirestoreBackend
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded document engine: provides `any FirestoreBackend` and
/// `any FirestoreAdminBackend`, and needs a store.
///
/// The store `firestore` in the project's directory is opened at the first call and closed with the last app of the
/// project. An app may bring its own `FirestoreServiceOptions` by contributing a component for them. With a
/// `CryptoProvider` in the app, resuming listeners get the names of the documents that still exist
/// (`FirestoreServiceOptions.md5`). With a `FirestoreGuard` in the app, such as that of security rules, the engine asks
/// it.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [FirestoreServiceLibrary.self, SQLiteLibrary.self])
/// ```
public enum FirestoreServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-firestore-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// In this process.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, as its protocol, one for each project.
  public static func components() -> [Component] {
    [
      EmbeddedService<FirestoreEngine>.component(
        product: "Firestore",
        keeps: ["firestore"],
        dependencies: dependencies
      ) { container, home in
        try engine(container, home)
      } close: {
        try await $0.close()
      },
      EmbeddedService<FirestoreEngine>.provides((any FirestoreBackend).self) { $0 },
      EmbeddedService<FirestoreEngine>.provides((any FirestoreAdminBackend).self) { $0 },
      EmbeddedService<FirestoreEngine>.contributes((any EventSource).self) { $0.events },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
      .optional((any CryptoProvider).self),
      .optional(FirestoreServiceOptions.self),
      .optional((any CallerVerifier).self),
      .optional((any AppCheckVerifier).self), .optional(AppCheckEnforcement.self),
      .optional((any FirestoreGuard).self),
    ]
  }

  private static func engine(_ container: ComponentContainer, _ home: EngineHome) throws -> FirestoreEngine {
    let stores = try container.require((any StoreProvider).self)
    var options = try container.find(FirestoreServiceOptions.self) ?? FirestoreServiceOptions()
    if options.md5 == nil { options.md5 = try container.find((any CryptoProvider).self).flatMap(md5) }
    return FirestoreEngine(
      options: options,
      callers: CallerCheck(
        callers: try container.find((any CallerVerifier).self),
        apps: try container.find((any AppCheckVerifier).self),
        enforcesAppCheck: try container.find(AppCheckEnforcement.self)?.products.contains("firestore") ?? false),
      gatekeeper: try container.find((any FirestoreGuard).self)
    ) {
      try await stores.openStore(named: "firestore", in: home.ready(), options: StoreOptions())
    }
  }
}

/// MD5 by a provider; `nil` where the system's policy bars it.
private func md5(_ crypto: any CryptoProvider) -> (@Sendable ([UInt8]) -> [UInt8])? {
  @Sendable func digest(_ bytes: [UInt8]) -> [UInt8]? { try? crypto.digest(.md5, of: bytes.span.bytes) }
  guard digest([]) != nil else { return nil }
  return { digest($0) ?? [] }
}
