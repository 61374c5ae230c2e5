public import VestaCore
import VestaEventsInterop
import VestaTransportInterop

/// Registers the routes of the Realtime Database with a server.
///
/// ```swift
/// let libraries: [any Library.Type] = [DatabaseServiceLibrary.self, DatabaseEndpointsLibrary.self]
/// ```
public enum DatabaseEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-database-endpoints"

  /// The provider of the routes, the part of exports, and the form of events.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return DatabaseEndpoints()
      },
      .contribution((any ExportPart).self) { _, isCacheable in
        isCacheable = true
        return DatabaseExportPart(tuning: DatabaseExportTuning())
      },
      .contribution((any EventTriggerForm).self) { _, isCacheable in
        isCacheable = true
        return ValueEventForm()
      },
    ]
  }
}
