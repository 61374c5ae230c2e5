public import VestaCore
import VestaServiceInterop
import VestaTransportInterop

/// Registers the transport of remote backends: provides `any HTTPClient`, `any NetworkMonitor`, gzip, and the
/// `RemoteServices` that all of them use.
///
/// The client and the monitor of an app are made when they are first needed, and closed with the app. An app may bring
/// its own ``TLSClientSettings``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
public enum TransportLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-transport"

  /// The client, the monitor, the compression, and the servers of the app.
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
      Component(
        RemoteServices.self, caching: .shared,
        dependencies: [
          .required((any HTTPClient).self), .optional(TransportCompression.self), .optional(RESTOptions.self),
          .optional((any OwnerTokenSource).self),
        ]
      ) { try services(in: $0) },
    ]
  }

  private static func services(in container: ComponentContainer) throws -> RemoteServices {
    var rest = try container.find(RESTOptions.self) ?? RESTOptions()
    if rest.compression == nil { rest.compression = try container.find(TransportCompression.self) }
    let (app, options) = (container.app, container.options)
    let heartbeats = HeartbeatSource { [weak app] in
      app?.heartbeat.payload()
    } takeToday: { [weak app] in
      app?.heartbeat.takeToday() ?? false
    }
    let identity = ClientIdentity(
      userAgent: app?.userAgent, appID: options.googleAppID, apiKey: options.apiKey, bundleID: options.bundleID,
      heartbeats: heartbeats)
    return RemoteServices(
      try container.require((any HTTPClient).self), app: identity, options: rest,
      owner: try container.find((any OwnerTokenSource).self))
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
