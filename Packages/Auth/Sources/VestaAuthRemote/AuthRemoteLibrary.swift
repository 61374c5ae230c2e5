import VestaAuthBackend
public import VestaCore
import VestaServiceInterop
import VestaTransportInterop

/// Registers the identity service of another machine: provides `any AuthBackend` and `any AuthAdminBackend` where the
/// app's backend is a server, emulators or Firebase, and needs a transport.
///
/// It may be in one list with `AuthServiceLibrary`: the backend of the app's options chooses. An app may bring its own
/// ``AuthRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 9099))
/// try VestaApp.configure(options: options, libraries: [AuthLibrary.self, AuthRemoteLibrary.self,
/// TransportLibrary.self])
/// ```
public enum AuthRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-auth-remote"

  /// The version of the package.
  public static let version = VestaVersion()

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service, the two protocols that it provides, and the way to an emulator.
  public static func components() -> [Component] {
    [
      Component(AuthRemote.self, caching: .shared, dependencies: dependencies) { container in
        let backend = container.options.backend
        let origin = try backend.origin(of: "auth", firebase: "https://identitytoolkit.googleapis.com")
        return try remote(in: container, at: origin, backend.kind)
      },
      Component((any AuthBackend).self, caching: .shared, dependencies: [.required(AuthRemote.self)]) {
        try $0.require(AuthRemote.self)
      },
      Component((any AuthAdminBackend).self, caching: .shared, dependencies: [.required(AuthRemote.self)]) {
        try $0.require(AuthRemote.self).administration
      },
      Component(EmulatorConnection<any AuthBackend>.self, caching: .shared, dependencies: dependencies) { container in
        EmulatorConnection { origin in try remote(in: container, at: origin, .emulators) }
      },
    ]
  }

  private static var dependencies: [Dependency] {
    [
      .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
      .optional(AuthRemoteOptions.self),
    ]
  }

  private static func remote(
    in container: ComponentContainer, at origin: String, _ kind: VestaOptions.Backend.Kind
  ) throws -> AuthRemote {
    let app = container.options
    var service = try container.require(RemoteServices.self).service(
      at: origin, isEmulator: kind == .emulators, sending: [.apiKey, .appID, .bundleID, .heartbeats])
    // Servers but Firebase's do not look at the key, and want one all the same.
    if kind != .firebase { service.options.apiKey = service.options.apiKey ?? "no-api-key" }
    var options =
      try container.find(AuthRemoteOptions.self) ?? (kind == .firebase ? .firebase : AuthRemoteOptions())
    options.clientVersion = options.clientVersion ?? "Swift/Vesta/\(version)"
    return AuthRemote(project: app.resourceProjectID, on: service, options: options)
  }
}
