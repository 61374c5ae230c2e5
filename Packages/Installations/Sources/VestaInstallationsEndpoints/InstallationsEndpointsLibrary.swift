public import VestaCore
import VestaTransportInterop

/// Registers the routes of installations with a server.
///
/// ```swift
/// let libraries: [any Library.Type] = [InstallationsServiceLibrary.self, InstallationsEndpointsLibrary.self]
/// ```
public enum InstallationsEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-installations-endpoints"

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return InstallationsEndpoints()
      }
    ]
  }
}
