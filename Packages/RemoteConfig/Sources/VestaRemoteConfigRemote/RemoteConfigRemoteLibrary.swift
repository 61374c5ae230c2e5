public import VestaCore
import VestaInstallationsBackend
import VestaRemoteConfigBackend
import VestaServiceInterop
import VestaTransportInterop

/// Registers the configuration service of another machine: provides `any RemoteConfigBackend` and
/// `any RemoteConfigAdminBackend` where the app's backend is a server, emulators or Firebase, and needs a transport.
///
/// It may be in one list with `RemoteConfigServiceLibrary`: the backend of the app's options chooses. Firebase asks for
/// an installation, which `InstallationsRemoteLibrary` brings; `vesta` serves apps without one. An app may bring its
/// own ``RemoteConfigRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 8080))
/// try VestaApp.configure(
///   options: options, libraries: [RemoteConfigLibrary.self, RemoteConfigRemoteLibrary.self, TransportLibrary.self])
/// ```
public enum RemoteConfigRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-remote-config-remote"

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      Component(
        RemoteConfigRemote.self, caching: .shared,
        dependencies: [
          .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
          .optional((any InstallationSource).self), .optional(RemoteConfigRemoteOptions.self),
        ]
      ) { try remote(in: $0) },
      Component((any RemoteConfigBackend).self, caching: .shared, dependencies: [.required(RemoteConfigRemote.self)]) {
        try $0.require(RemoteConfigRemote.self)
      },
      Component(
        (any RemoteConfigAdminBackend).self, caching: .shared, dependencies: [.required(RemoteConfigRemote.self)]
      ) {
        try $0.require(RemoteConfigRemote.self)
      },
    ]
  }

  private static func remote(in container: ComponentContainer) throws -> RemoteConfigRemote {
    let (app, backend) = (container.options, container.options.backend)
    let service = try container.require(RemoteServices.self).service(
      at: backend.origin(of: "remoteconfig", firebase: "https://firebaseremoteconfig.googleapis.com"),
      isEmulator: backend.kind == .emulators, sending: [.apiKey, .bundleID])
    var options = try container.find(RemoteConfigRemoteOptions.self) ?? RemoteConfigRemoteOptions()
    options.appID = options.appID ?? app.googleAppID
    options.packageName = options.packageName ?? app.bundleID
    options.sdkVersion = options.sdkVersion ?? version
    options.installationID = options.installationID ?? { [weak app = container.app] in app?.installationID ?? "" }
    options.installation = try options.installation ?? container.find((any InstallationSource).self)
    if backend.kind == .firebase {
      options.realtimeOrigin =
        options.realtimeOrigin ?? HTTPURL("https://firebaseremoteconfigrealtime.googleapis.com")
      options.realtimeProject = options.realtimeProject ?? app.gcmSenderID
    }
    return RemoteConfigRemote(project: app.resourceProjectID, on: service, options: options)
  }
}
