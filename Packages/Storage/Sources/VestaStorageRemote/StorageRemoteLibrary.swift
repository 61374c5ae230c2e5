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
      .required((any HTTPClient).self, providedBy: TransportLibraries.providedBy),
      .optional(TransportCompression.self), .optional(RESTOptions.self), .optional((any OwnerTokenSource).self),
      .optional(StorageRemoteOptions.self),
    ]
  }

  private static func remote(
    in container: ComponentContainer, at origin: String, _ kind: VestaOptions.Backend.Kind
  ) throws -> StorageRemote {
    var rest = try container.find(RESTOptions.self) ?? RESTOptions()
    rest.identify(userAgent: container.app?.userAgent, appID: container.options.googleAppID, apiKey: nil)
    rest.complete(
      compression: try container.find(TransportCompression.self),
      owner: try container.find((any OwnerTokenSource).self),
      isEmulator: kind == .emulators)
    rest.userScheme = "Firebase"
    let service = try RESTService(container.require((any HTTPClient).self), at: origin, options: rest)
    var options =
      try container.find(StorageRemoteOptions.self) ?? (kind == .firebase ? .firebase : StorageRemoteOptions())
    options.clientVersion = options.clientVersion ?? "swift/\(version)"
    return StorageRemote(on: service, options: options)
  }
}
