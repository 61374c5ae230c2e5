public import VestaCore
import VestaTransportInterop

/// Registers the routes of App Check with a server.
///
/// ```swift
/// let libraries: [any Library.Type] = [AppCheckServiceLibrary.self, AppCheckEndpointsLibrary.self]
/// ```
public enum AppCheckEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-app-check-endpoints"

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return AppCheckEndpoints()
      }
    ]
  }
}
