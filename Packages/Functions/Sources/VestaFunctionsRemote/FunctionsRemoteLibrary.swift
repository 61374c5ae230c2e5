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

  /// The remote functions.
  public static func components() -> [Component] {
    [
      Component(
        (any FunctionsBackend).self, caching: .shared,
        dependencies: [
          .required((any HTTPClient).self, providedBy: TransportLibraries.providedBy),
          .optional(TransportCompression.self), .optional(RESTOptions.self), .optional((any OwnerTokenSource).self),
          .optional(FunctionsRemoteOptions.self),
        ]
      ) { try remote(in: $0) }
    ]
  }

  private static func remote(in container: ComponentContainer) throws -> FunctionsRemote {
    let app = container.options
    let service = try RESTService(
      container.require((any HTTPClient).self),
      at: app.backend.origin(of: "functions", firebase: "https://cloudfunctions.net"), options: rest(in: container))
    var options = try container.find(FunctionsRemoteOptions.self) ?? FunctionsRemoteOptions()
    if app.backend.kind == .firebase { options.usesHostsOfRegions = true }
    return FunctionsRemote(project: app.projectID ?? "no-project", on: service, options: options)
  }

  private static func rest(in container: ComponentContainer) throws -> RESTOptions {
    var rest = try container.find(RESTOptions.self) ?? RESTOptions()
    rest.identify(
      userAgent: container.app?.userAgent, appID: container.options.googleAppID, apiKey: container.options.apiKey)
    rest.complete(
      compression: try container.find(TransportCompression.self),
      owner: try container.find((any OwnerTokenSource).self),
      isEmulator: container.options.backend.kind == .emulators)
    return rest
  }
}
