public import VestaCore
import VestaTransportInterop

/// Registers the routes of Remote Config with a server.
///
/// ```swift
/// let libraries: [any Library.Type] = [RemoteConfigServiceLibrary.self, RemoteConfigEndpointsLibrary.self]
/// ```
public enum RemoteConfigEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-remote-config-endpoints"

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return RemoteConfigEndpoints()
      }
    ]
  }
}
