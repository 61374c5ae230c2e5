public import VestaCore
import VestaEventsInterop
import VestaTransportInterop

/// Registers the routes of Storage with a server.
///
/// ```swift
/// let libraries: [any Library.Type] = [StorageServiceLibrary.self, StorageEndpointsLibrary.self]
/// ```
public enum StorageEndpointsLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-storage-endpoints"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The provider of the routes.
  public static func components() -> [Component] {
    [
      .contribution((any EndpointProvider).self) { _, isCacheable in
        isCacheable = true
        return StorageEndpoints()
      },
      .contribution((any ExportPart).self) { _, isCacheable in
        isCacheable = true
        return StorageExportPart(tuning: StorageEndpointsTuning())
      },
      .contribution((any EventTriggerForm).self) { _, isCacheable in
        isCacheable = true
        return ObjectEventForm()
      },
    ]
  }
}
