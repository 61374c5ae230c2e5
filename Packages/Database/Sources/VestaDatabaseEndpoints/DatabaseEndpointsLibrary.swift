public import VestaCore
import VestaTransportInterop

/// Registers the routes of the Realtime Database with a server.
///
/// ```swift
/// let libraries: [any Library.Type] = [DatabaseServiceLibrary.self, DatabaseEndpointsLibrary.self]
/// ```
public enum DatabaseEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-database-endpoints"

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return DatabaseEndpoints()
      }
    ]
  }
}
