public import VestaCore
import VestaTransportInterop

/// Registers the routes of Messaging with a server; registrations need the service of installations there.
///
/// ```swift
/// let libraries: [any Library.Type] = [MessagingServiceLibrary.self, MessagingEndpointsLibrary.self]
/// ```
public enum MessagingEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-messaging-endpoints"

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return MessagingEndpoints()
      }
    ]
  }
}
