public import VestaCore
import VestaTransportInterop

/// Registers the transport of remote backends: provides `any HTTPClient`, `any NetworkMonitor` and gzip.
///
/// The client and the monitor of an app are made when they are first needed, and closed with the app. An app may bring
/// its own ``TLSClientSettings`` by a component that provides them.
public enum TransportLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-transport"

  /// The client, the monitor and the compression.
  public static func components() -> [Component] {
    [
      Component(AppClient.self, caching: .shared, dependencies: [.optional(TLSClientSettings.self)]) { container in
        let security = try container.find(TLSClientSettings.self) ?? TLSClientSettings()
        return AppClient(try VestaTransportClient(security: security))
      },
      Component((any HTTPClient).self, caching: .shared, dependencies: [.required(AppClient.self)]) {
        try $0.require(AppClient.self).client
      },
      Component(AppMonitor.self, caching: .shared) { _ in AppMonitor(try VestaNetworkMonitor()) },
      Component((any NetworkMonitor).self, caching: .shared, dependencies: [.required(AppMonitor.self)]) {
        try $0.require(AppMonitor.self).monitor
      },
      Component(TransportCompression.self, caching: .shared) { _ in .gzip },
    ]
  }
}

/// Closes the client of an app with the app.
private final class AppClient: ComponentLifecycleMaintainer {
  let client: VestaTransportClient

  init(_ client: VestaTransportClient) { self.client = client }

  func appWillBeDeleted(_ app: VestaApp) async { await client.close() }
}

/// Closes the monitor of an app with the app.
private final class AppMonitor: ComponentLifecycleMaintainer {
  let monitor: VestaNetworkMonitor

  init(_ monitor: VestaNetworkMonitor) { self.monitor = monitor }

  func appWillBeDeleted(_ app: VestaApp) async { await monitor.close() }
}
