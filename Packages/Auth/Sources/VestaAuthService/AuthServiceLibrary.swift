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

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<AuthEngine>.component(product: "Auth", keeps: ["auth"], dependencies: dependencies) {
        try makeEngine($0, $1)
      } close: { engine in
        try await engine.close()
      },
      EmbeddedService<AuthEngine>.provides((any AuthBackend).self) { $0 },
      Component.contribution((any EventSource).self) { container, isCacheable in
        isCacheable = true
        return try container.require(EmbeddedService<AuthEngine>.self).engine.events
      },
      EmbeddedService<AuthEngine>.provides((any AuthAdminBackend).self) { $0 },
      verifier,
    ]
  }

  /// The check of ID tokens; a `CallerVerifierDecorator` of the app stands before it.
  private static var verifier: Component {
    Component(
      (any CallerVerifier).self, caching: .shared,
      dependencies: [.required(EmbeddedService<AuthEngine>.self), .optional((any CallerVerifierDecorator).self)]
    ) { container in
      let engine = try container.require(EmbeddedService<AuthEngine>.self).engine
      let verifier = CachedCallerVerifier(AuthCallerVerifier(engine: engine), clock: engine.options.clock)
      return try container.find((any CallerVerifierDecorator).self)?.decorate(verifier) ?? verifier
    }
  }

  private static var dependencies: [Dependency] {
    [
      .required(
        (any StoreProvider).self,
        providedBy: """
          SQLiteLibrary of VestaSQLite (keeps everything in a file; Packages/SQLite) or MemoryStoreLibrary of \
          VestaMemoryStore (keeps nothing after the process; Packages/MemoryStore)
          """),
      .required((any CryptoProvider).self, providedBy: "CryptoLibrary of VestaCrypto (Packages/Crypto)"),
      .optional(AuthServiceOptions.self),
      .optional((any CodeSender).self),
    ]
  }

  private static func makeEngine(_ container: ComponentContainer, _ home: EngineHome) throws -> AuthEngine {
    let stores = try container.require((any StoreProvider).self)
    var options = try container.find(AuthServiceOptions.self) ?? AuthServiceOptions()
    if options.codeSender == nil { options.codeSender = try container.find((any CodeSender).self) }
    return AuthEngine(
      projectID: container.options.projectID ?? "no-project", options: options,
      crypto: try container.require((any CryptoProvider).self)
    ) {
      try await stores.openStore(named: "auth", in: home.ready(), options: StoreOptions())
    }
  }
}
