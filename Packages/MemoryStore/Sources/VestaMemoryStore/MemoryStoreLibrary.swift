public import VestaCore
import VestaStoreInterop

/// Gives an app stores in memory.
///
/// For tests and throw-away apps: nothing is kept. In the list it takes the place of a library that keeps data:
///
/// ```swift
/// try VestaApp.configure(libraries: [MemoryStoreLibrary.self])
/// ```
public enum MemoryStoreLibrary: Library {
  /// The name in user-agent strings and error messages.
  public static let name = "vesta-memory-store"

  /// The version of this package.
  public static let version = VestaVersion()

  /// One provider of stores for each app.
  public static func components() -> [Component] {
    [Component((any StoreProvider).self, caching: .shared) { _ in MemoryStoreProvider() }]
  }
}
