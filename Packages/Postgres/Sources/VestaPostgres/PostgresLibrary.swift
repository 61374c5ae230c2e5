public import VestaCore
import VestaStoreInterop

/// Gives an app stores in PostgreSQL, which several processes may have open at once.
///
/// The connection string is taken from a component of the type `PostgresOptions`, or from `VESTA_POSTGRES_URL`.
///
/// ```swift
/// try VestaApp.configure(libraries: [PostgresLibrary.self])
/// ```
public enum PostgresLibrary: Library {
  /// The name in user-agent strings and error messages.
  public static let name = "vesta-postgres"

  /// The version of this package.
  public static let version = VestaVersion()

  /// One provider of stores for each app.
  public static func components() -> [Component] {
    [
      Component((any StoreProvider).self, dependencies: [.optional(PostgresOptions.self)]) { container, isCacheable in
        isCacheable = true
        return PostgresStoreProvider(options: try container.find(PostgresOptions.self) ?? PostgresOptions())
      }
    ]
  }
}
