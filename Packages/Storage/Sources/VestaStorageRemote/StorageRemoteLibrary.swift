public import VestaCore
import VestaServiceInterop
import VestaStorageBackend
import VestaTransportInterop

/// Registers the object service of another machine: provides `any StorageBackend` where the app's backend is a server,
/// emulators or Firebase, and needs a transport.
///
/// It may be in one list with `StorageServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``StorageRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 9199))
/// try VestaApp.configure(
///   options: options, libraries: [StorageLibrary.self, StorageRemoteLibrary.self, TransportLibrary.self])
/// ```
public enum StorageRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-storage-remote"

  /// The version of the package.
  public static let version = VestaVersion()

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service, its protocol, and the way to an emulator.
  public static func components() -> [Component] {
    [
      Component((any StorageBackend).self, caching: .shared, dependencies: dependencies) { container in
        let backend = container.options.backend
        let origin = try backend.origin(of: "storage", firebase: "https://firebasestorage.googleapis.com")
        return try remote(in: container, at: origin, backend.kind)
      },
      Component(
        EmulatorConnection<any StorageBackend>.self, caching: .shared, dependencies: dependencies
      ) { container in
        EmulatorConnection { origin in try remote(in: container, at: origin, .emulators) }
      },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
      .optional(StorageRemoteOptions.self),
    ]
  }

  private static func remote(
    in container: ComponentContainer, at origin: String, _ kind: VestaOptions.Backend.Kind
  ) throws -> StorageRemote {
    var service = try container.require(RemoteServices.self).service(
      at: origin, isEmulator: kind == .emulators, sending: .appID)
    service.options.userScheme = "Firebase"
    var options =
      try container.find(StorageRemoteOptions.self) ?? (kind == .firebase ? .firebase : StorageRemoteOptions())
    options.clientVersion = options.clientVersion ?? "swift/\(version)"
    return StorageRemote(on: service, options: options)
  }
}
