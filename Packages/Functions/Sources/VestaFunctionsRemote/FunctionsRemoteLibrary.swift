public import VestaCore
import VestaFunctionsBackend
import VestaServiceInterop
import VestaTransportInterop

/// Registers the functions of another machine: provides `any FunctionsBackend` where the app's backend is a server,
/// emulators or Firebase, and needs a transport.
///
/// It may be in one list with `FunctionsServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``FunctionsRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 5001))
/// try VestaApp.configure(
///   options: options, libraries: [FunctionsLibrary.self, FunctionsRemoteLibrary.self, TransportLibrary.self])
/// ```
public enum FunctionsRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-functions-remote"

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote functions, and the way to an emulator.
  public static func components() -> [Component] {
    [
      Component((any FunctionsBackend).self, caching: .shared, dependencies: dependencies) { container in
        let backend = container.options.backend
        let origin = try backend.origin(of: "functions", firebase: "https://cloudfunctions.net")
        return try remote(in: container, at: origin, backend.kind)
      },
      Component(
        EmulatorConnection<any FunctionsBackend>.self, caching: .shared, dependencies: dependencies
      ) { container in
        EmulatorConnection { origin in try remote(in: container, at: origin, .emulators) }
      },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
      .optional(FunctionsRemoteOptions.self),
    ]
  }

  private static func remote(
    in container: ComponentContainer, at origin: String, _ kind: VestaOptions.Backend.Kind
  ) throws -> FunctionsRemote {
    // Functions are programs of the owner: they get the credentials of the caller, and nothing else about the app.
    let service = try container.require(RemoteServices.self).service(
      at: origin, isEmulator: kind == .emulators, sending: [])
    var options = try container.find(FunctionsRemoteOptions.self) ?? FunctionsRemoteOptions()
    if kind == .firebase { options.usesHostsOfRegions = true }
    if kind == .emulators { options.usesHostsOfRegions = false }
    return FunctionsRemote(project: container.options.resourceProjectID, on: service, options: options)
  }
}
