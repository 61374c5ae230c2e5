import VestaCryptoInterop
import VestaAuthBackend
import VestaStoreInterop
public import VestaCore

/// Registers the embedded identity service: provides `any AuthBackend` and `any IdentityAdminBackend`, one engine
/// for both, and needs a store and a crypto provider.
///
/// The store `auth` in the app's data directory is opened at the first call and closed when the app is deleted. An app
/// may bring its own `AuthServiceOptions` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [AuthServiceLibrary.self, …])
/// ```
public enum AuthServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-auth-service"

  /// The version of the package.
  public static var version: String { VestaVersion() }

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    let engine = Dependency.required((any EmbeddedIdentity).self)
    return [
      Component(
        (any EmbeddedIdentity).self,
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: "VestaSQLite (keeps everything in a file) or VestaMemoryStore (keeps nothing after the process)"
          ),
          .required((any CryptoProvider).self, providedBy: "VestaCrypto"),
          .optional(AuthServiceOptions.self),
          .optional((any CodeSender).self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedIdentityService(container)
      },
      Component((any AuthBackend).self, dependencies: [engine]) { container, _ in
        try container.require((any EmbeddedIdentity).self).engine
      },
      Component((any IdentityAdminBackend).self, dependencies: [engine]) { container, _ in
        try container.require((any EmbeddedIdentity).self).engine
      },
    ]
  }
}

/// What both protocols of an app come from: one engine.
protocol EmbeddedIdentity: Sendable {
  var engine: AuthEngine { get }
}

/// The engine of an app, which ends with the app.
struct EmbeddedIdentityService: EmbeddedIdentity, ComponentLifecycleMaintainer {
  let engine: AuthEngine

  init(_ container: ComponentContainer) throws {
    let projectOptions = container.options
    guard case .embedded = projectOptions.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(projectOptions.backend)", and there is no remote transport for Auth yet. \
        Use the embedded backend.
        """
      )
    }
    let stores = try container.require((any StoreProvider).self)
    let directory = try Self.directory(container)
    var options = try container.found(AuthServiceOptions.self) ?? AuthServiceOptions()
    if options.codeSender == nil { options.codeSender = try container.found((any CodeSender).self) }
    engine = AuthEngine(
      projectID: projectOptions.projectID ?? "no-project",
      options: options,
      crypto: try container.require((any CryptoProvider).self)
    ) {
      try await stores.openStore(named: "auth", in: directory, options: StoreOptions())
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await engine.close()
    } catch {
      log.error("I-AUS000003", "The identity service's store could not be closed: \(error)")
    }
  }

  private static func directory(_ container: ComponentContainer) throws -> String {
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its identity service was being made.")
    }
    return path(of: app.dataDirectory)
  }
}

private let log = Logger(service: "VestaAuthService")
