import VestaDatabaseBackend
import VestaStoreInterop
public import VestaCore

/// Registers the embedded tree engine: provides `any DatabaseBackend`, and needs a store.
///
/// The store `database` in the app's data directory is opened at the first connection and closed when the app is
/// deleted. An app may bring its own `DatabaseServiceOptions` by contributing a component for them.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [DatabaseServiceLibrary.self, SQLiteLibrary.self])
/// ```
public enum DatabaseServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-database-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The engine behind its protocol, one for each app.
  public static func components() -> [Component] {
    [
      Component(
        (any EmbeddedDatabase).self,
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: "VestaSQLite (keeps everything in a file) or VestaMemoryStore (keeps nothing after the process)"
          ),
          .optional(DatabaseServiceOptions.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedDatabaseService(container)
      },
      Component((any DatabaseBackend).self, dependencies: [.required((any EmbeddedDatabase).self)]) { container, _ in
        try container.require((any EmbeddedDatabase).self).engine
      },
    ]
  }
}

/// What the app's backend comes from.
protocol EmbeddedDatabase: Sendable {
  var engine: DatabaseEngine { get }
}

/// The engine of an app, which ends with the app.
struct EmbeddedDatabaseService: EmbeddedDatabase, ComponentLifecycleMaintainer {
  let engine: DatabaseEngine

  init(_ container: ComponentContainer) throws {
    guard case .embedded = container.options.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(container.options.backend)", and the tree engine is for the embedded one. \
        Leave DatabaseServiceLibrary out, or use the embedded backend.
        """
      )
    }
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its tree engine was being made.")
    }
    let stores = try container.require((any StoreProvider).self)
    let directory = path(of: app.dataDirectory)
    engine = DatabaseEngine(options: container.resolve(DatabaseServiceOptions.self) ?? DatabaseServiceOptions()) {
      try await stores.openStore(named: "database", in: directory, options: StoreOptions())
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await engine.close()
    } catch {
      log.error("I-DBS000001", "The tree engine's store could not be closed: \(error)")
    }
  }
}

private let log = Logger(service: "VestaDatabaseService")
