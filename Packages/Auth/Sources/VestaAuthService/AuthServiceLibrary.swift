import VestaAuthBackend
public import VestaCore
import VestaCryptoInterop
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded service of Auth: provides `any AuthBackend`, `any AuthAdminBackend` and, for the other
/// services, `any CallerVerifier`, one engine for all, and needs a store and a crypto provider.
///
/// The store `auth` in the project's directory is opened at the first call and closed with the last app of the project.
/// An app may bring its own `AuthServiceOptions`, and a library its own `CodeSender`, by registering a component that
/// provides them; one that cannot be created is an error.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [AuthServiceLibrary.self, …])
/// ```
public enum AuthServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-auth-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded backend alone: the library of a remote backend may be in the same list.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<AuthEngine>.component(product: "Auth", keeps: ["auth"], dependencies: dependencies) {
        try makeEngine($0, $1)
      } close: { engine in
        try await engine.close()
      },
      EmbeddedService<AuthEngine>.provides((any AuthBackend).self) { $0 },
      EmbeddedService<AuthEngine>.contributes((any EventSource).self) { $0.events },
      EmbeddedService<AuthEngine>.provides((any AuthAdminBackend).self) { $0.administration },
      EmbeddedService<AuthEngine>.provides((any CallerVerifier).self) { $0.callers },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
      .required((any CryptoProvider).self, providedBy: "CryptoLibrary of VestaCrypto (Packages/Crypto)"),
      .optional(AuthServiceOptions.self),
      .optional((any CodeSender).self),
      .optional((any AuthBlockingFunctions).self),
      .optional((any IdentityProviderKeySource).self),
    ]
  }

  private static func makeEngine(_ container: ComponentContainer, _ home: EngineHome) throws -> AuthEngine {
    let stores = try container.require((any StoreProvider).self)
    var options = try container.find(AuthServiceOptions.self) ?? AuthServiceOptions()
    if options.codeSender == nil { options.codeSender = try container.find((any CodeSender).self) }
    if options.blockingFunctions == nil {
      options.blockingFunctions = try container.find((any AuthBlockingFunctions).self)
    }
    if options.identityProviderKeys == nil {
      options.identityProviderKeys = try container.find((any IdentityProviderKeySource).self)
    }
    return AuthEngine(
      projectID: container.options.resourceProjectID, options: options,
      crypto: try container.require((any CryptoProvider).self)
    ) {
      try await stores.openStore(named: "auth", in: home.ready(), options: StoreOptions())
    }
  }
}
