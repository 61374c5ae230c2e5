public import VestaCore
import VestaDatabaseBackend
import VestaServiceInterop
import VestaTransportInterop

/// Registers the tree service of another machine: provides `any DatabaseBackend` and `any DatabaseAdminBackend` where
/// the app's backend is a server, emulators or Firebase, and needs a transport.
///
/// It may be in one list with `DatabaseServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``DatabaseRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 9000))
/// try VestaApp.configure(
///   options: options, libraries: [DatabaseLibrary.self, DatabaseRemoteLibrary.self, TransportLibrary.self])
/// ```
public enum DatabaseRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-database-remote"

  /// The version of the package.
  public static let version = VestaVersion()

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service, its protocols, and the way to an emulator.
  public static func components() -> [Component] {
    [
      Component(DatabaseRemote.self, caching: .shared, dependencies: dependencies) { container in
        let backend = container.options.backend
        let origin = try backend.origin(of: "database", firebase: "https://firebaseio.com")
        return try remote(in: container, at: origin, backend.kind)
      },
      Component((any DatabaseBackend).self, caching: .shared, dependencies: [.required(DatabaseRemote.self)]) {
        try $0.require(DatabaseRemote.self)
      },
      Component((any DatabaseAdminBackend).self, caching: .shared, dependencies: [.required(DatabaseRemote.self)]) {
        try $0.require(DatabaseRemote.self)
      },
      Component(
        EmulatorConnection<any DatabaseBackend>.self, caching: .shared, dependencies: dependencies
      ) { container in
        EmulatorConnection { origin in try remote(in: container, at: origin, .emulators) }
      },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
      .optional(DatabaseRemoteOptions.self),
    ]
  }

  private static func remote(
    in container: ComponentContainer, at origin: String, _ kind: VestaOptions.Backend.Kind
  ) throws -> DatabaseRemote {
    var services = try container.require(RemoteServices.self)
    // The service reads the language of a client, and the version of its protocol, in this form.
    services.app.userAgent = "Firebase/5/\(version)/swift/\(services.app.userAgent ?? "vesta")"
    let service = try services.service(at: origin, isEmulator: kind == .emulators, sending: .appID)
    var options =
      try container.find(DatabaseRemoteOptions.self) ?? (kind == .firebase ? .firebase : DatabaseRemoteOptions())
    // The host of an emulator is the one that the program names, whatever was configured for the app.
    if kind == .emulators { (options.domain, options.followsHosts) = (nil, false) }
    return DatabaseRemote(project: container.options.resourceProjectID, on: service, options: options)
  }
}
