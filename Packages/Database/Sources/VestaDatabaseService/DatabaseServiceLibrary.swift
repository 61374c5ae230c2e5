public import VestaCore
import VestaDatabaseBackend
import VestaEventsInterop
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

  /// The engine, as its protocol, one for each project.
  public static func components() -> [Component] {
    [
      EmbeddedService<DatabaseEngine>.component(
        product: "Database",
        keeps: ["database"],
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: """
              SQLiteLibrary of VestaSQLite (keeps everything in a file; Packages/SQLite) or MemoryStoreLibrary of \
              VestaMemoryStore (keeps nothing after the process; Packages/MemoryStore)
              """),
          .optional(DatabaseServiceOptions.self),
        ]
      ) { container, home in
        let stores = try container.require((any StoreProvider).self)
        return DatabaseEngine(options: try container.find(DatabaseServiceOptions.self) ?? DatabaseServiceOptions()) {
          try await stores.openStore(named: "database", in: home.ready(), options: StoreOptions())
        }
      } close: { engine in
        try await engine.close()
      },
      EmbeddedService<DatabaseEngine>.provides((any DatabaseBackend).self) { $0 },
      Component.contribution((any EventSource).self) { container, isCacheable in
        isCacheable = true
        return try container.require(EmbeddedService<DatabaseEngine>.self).engine.events
      },
    ]
  }
}
