public import VestaCore
import VestaStoreInterop

/// Gives an app stores that are kept in SQLite files: the embedded default.
///
/// ```swift
/// try VestaApp.configure(libraries: [SQLiteLibrary.self])
/// ```
public enum SQLiteLibrary: Library {
  /// The name in user-agent strings and error messages.
  public static let name = "vesta-sqlite"

  /// The version of this package.
  public static let version = VestaVersion()

  /// One provider of stores for each app.
  public static func components() -> [Component] {
    [Component((any StoreProvider).self, caching: .shared) { _ in SQLiteStoreProvider() }]
  }
}
