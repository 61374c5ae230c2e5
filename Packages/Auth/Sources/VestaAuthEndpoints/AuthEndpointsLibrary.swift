public import VestaCore
import VestaEventsInterop
import VestaTransportInterop

/// Registers the routes of Auth with a server.
public enum AuthEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-auth-endpoints"

  /// The version of the package.
  public static let version = VestaVersion()

  /// One contribution to the server's routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return AuthEndpoints()
      },
      .contribution((any ExportPart).self) { _, isCacheable in
        isCacheable = true
        return AuthExportPart(tuning: AuthExportTuning())
      },
      .contribution((any EventTriggerForm).self) { _, isCacheable in
        isCacheable = true
        return UserEventForm()
      },
    ]
  }
}
