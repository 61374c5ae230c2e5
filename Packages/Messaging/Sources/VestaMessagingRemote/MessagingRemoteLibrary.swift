public import VestaCore
import VestaInstallationsBackend
import VestaMessagingBackend
import VestaServiceInterop
import VestaTransportInterop

/// Registers the messaging service of another machine: provides `any MessagingBackend` and `any MessagingAdminBackend`
/// where the app's backend is a server, emulators or Firebase, and needs a transport and the app's installation.
///
/// It may be in one list with `MessagingServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``MessagingRemoteOptions``, `RESTOptions` and `OwnerTokenSource` by components that provide them. The calls of
/// the owner need a credential of the owner, such as that of `ServiceAccountLibrary` of VestaAuthRemote.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 7700))
/// try VestaApp.configure(
///   options: options, libraries: [MessagingLibrary.self, MessagingRemoteLibrary.self, InstallationsRemoteLibrary.self,
///   TransportLibrary.self])
/// ```
public enum MessagingRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-messaging-remote"

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service.
  public static func components() -> [Component] {
    [
      Component(
        (any MessagingBackend).self, caching: .shared,
        dependencies: [
          .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
          .required(
            (any InstallationSource).self,
            providedBy: "InstallationsRemoteLibrary of VestaInstallationsRemote (Packages/Installations)"),
          .optional(MessagingRemoteOptions.self),
        ]
      ) { try remote(in: $0) },
      Component(
        (any MessagingAdminBackend).self, caching: .shared,
        dependencies: [
          .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
          .optional(MessagingRemoteOptions.self),
        ]
      ) { container in
        MessagingAdminRemote(
          project: container.options.resourceProjectID, on: try service(in: container),
          options: try options(in: container))
      },
    ]
  }

  private static func remote(in container: ComponentContainer) throws -> MessagingRemote {
    let source = try container.require((any InstallationSource).self)
    return MessagingRemote(
      project: container.options.resourceProjectID, on: try service(in: container),
      options: try options(in: container)
    ) { _ in source }
  }

  private static func service(in container: ComponentContainer) throws -> RESTService {
    let backend = container.options.backend
    return try container.require(RemoteServices.self).service(
      at: backend.origin(of: "messaging", firebase: "https://fcmregistrations.googleapis.com"),
      isEmulator: backend.kind == .emulators, sending: .apiKey)
  }

  private static func options(in container: ComponentContainer) throws -> MessagingRemoteOptions {
    try container.find(MessagingRemoteOptions.self)
      ?? (container.options.backend.kind == .firebase ? .firebase : MessagingRemoteOptions())
  }
}
