public import VestaCore
import VestaEventsInterop
import VestaTransportInterop

/// Registers the routes of Firestore with a server.
public enum FirestoreEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-firestore-endpoints"

  /// The version of the package.
  public static let version = VestaVersion()

  /// One contribution to the server's routes, and one to its exports.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return FirestoreEndpoints()
      },
      .contribution((any ExportPart).self) { _, isCacheable in
        isCacheable = true
        return FirestoreExportPart(tuning: FirestoreExportTuning())
      },
      .contribution((any EventTriggerForm).self) { _, isCacheable in
        isCacheable = true
        return DocumentEventForm()
      },
    ]
  }
}
