public import VestaCore
import VestaEventsInterop
import VestaTransportInterop

/// Registers the routes of functions with a server, which needs a transport where functions run in other programs.
///
/// ```swift
/// let libraries: [any Library.Type] = [FunctionsServiceLibrary.self, FunctionsEndpointsLibrary.self]
/// ```
public enum FunctionsEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-functions-endpoints"

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self, dependencies: [.optional((any HTTPClient).self)]) {
        container, isCacheable in
        isCacheable = true
        return FunctionsEndpoints(
          client: { [weak container] in try container?.find((any HTTPClient).self) },
          forms: { [weak container] in container?.resolveAll((any EventTriggerForm).self) ?? [] })
      }
    ]
  }
}
