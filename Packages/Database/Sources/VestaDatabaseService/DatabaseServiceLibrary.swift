public import VestaCore
import VestaDatabaseBackend
import VestaEventsInterop
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded tree engine: provides `any DatabaseBackend`, and needs a store.
///
/// The store `database` in the project's directory is opened at the first connection and closed with the last app of
/// the project. An app may bring its own `DatabaseServiceOptions` by contributing a component for them.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [DatabaseServiceLibrary.self, SQLiteLibrary.self])
/// ```
public enum DatabaseServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-database-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded backend.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, as its protocol, one for each project.
  public static func components() -> [Component] {
    [
      EmbeddedService<DatabaseEngine>.component(
        product: "Database",
        keeps: ["database"],
        dependencies: dependencies
      ) { container, home in
        try engine(container, home)
      } close: { engine in
        try await engine.close()
      },
      EmbeddedService<DatabaseEngine>.provides((any DatabaseBackend).self) { $0 },
      EmbeddedService<DatabaseEngine>.provides((any DatabaseAdminBackend).self) { $0 },
      EmbeddedService<DatabaseEngine>.contributes((any EventSource).self) { $0.events },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
      .optional(DatabaseServiceOptions.self),
      .optional((any CallerVerifier).self),
      .optional((any AppCheckVerifier).self), .optional(AppCheckEnforcement.self),
      .optional((any DatabaseGuard).self),
      .optional((any RulesAdministration).self),
    ]
  }

  private static func engine(_ container: ComponentContainer, _ home: EngineHome) throws -> DatabaseEngine {
    let stores = try container.require((any StoreProvider).self)
    var options = try container.find(DatabaseServiceOptions.self) ?? DatabaseServiceOptions()
    if options.gatekeeper == nil { options.gatekeeper = try container.find((any DatabaseGuard).self) }
    if options.rules == nil { options.rules = try container.find((any RulesAdministration).self) }
    return DatabaseEngine(
      options: options,
      callers: CallerCheck(
        callers: try container.find((any CallerVerifier).self),
        apps: try container.find((any AppCheckVerifier).self),
        enforcesAppCheck: try container.find(AppCheckEnforcement.self)?.products.contains("database") ?? false)
    ) {
      try await stores.openStore(named: "database", in: home.ready(), options: StoreOptions())
    }
  }
}
