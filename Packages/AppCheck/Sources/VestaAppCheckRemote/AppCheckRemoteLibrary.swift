import VestaAppCheckBackend
public import VestaCore
import VestaCryptoInterop
import VestaServiceInterop
import VestaTransportInterop

/// Registers the service of App Check of another machine: provides `any AppCheckBackend` where the app's backend is a
/// server, emulators or Firebase, and needs a transport; to verify tokens, a crypto provider too.
///
/// It may be in one list with `AppCheckServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``AppCheckRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 7700))
/// let app = try VestaApp.configure(
///   options: options, libraries: [AppCheckRemoteLibrary.self, CryptoLibrary.self, TransportLibrary.self])
/// let service = try app.container.require((any AppCheckBackend).self)
/// ```
public enum AppCheckRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-app-check-remote"

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service.
  public static func components() -> [Component] {
    [
      Component(
        (any AppCheckBackend).self, caching: .shared,
        dependencies: [
          .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
          .optional((any CryptoProvider).self), .optional(AppCheckRemoteOptions.self),
        ]
      ) { try remote(in: $0) }
    ]
  }

  private static func remote(in container: ComponentContainer) throws -> AppCheckRemote {
    let (app, backend) = (container.options, container.options.backend)
    let service = try container.require(RemoteServices.self).service(
      at: backend.origin(of: "appcheck", firebase: "https://firebaseappcheck.googleapis.com"),
      isEmulator: backend.kind == .emulators, sending: [.apiKey, .bundleID, .heartbeats])
    return AppCheckRemote(
      project: app.resourceProjectID, number: app.gcmSenderID, on: service,
      crypto: try container.find((any CryptoProvider).self),
      options: try container.find(AppCheckRemoteOptions.self)
        ?? (backend.kind == .firebase ? .firebase : AppCheckRemoteOptions()))
  }
}
