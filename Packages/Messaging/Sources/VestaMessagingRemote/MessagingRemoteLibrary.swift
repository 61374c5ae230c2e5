public import VestaCore
import VestaInstallationsBackend
import VestaMessagingBackend
import VestaServiceInterop
import VestaTransportInterop

/// Registers the messaging service of another machine: provides `any MessagingBackend` where the app's backend is a
/// server, emulators or Firebase, and needs a transport and the app's installation.
///
/// It may be in one list with `MessagingServiceLibrary`: the backend of the app's options chooses. An app may bring its
/// own ``MessagingRemoteOptions`` and `RESTOptions` by components that provide them.
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
      ) { try remote(in: $0) }
    ]
  }

  private static func remote(in container: ComponentContainer) throws -> MessagingRemote {
    let backend = container.options.backend
    let service = try container.require(RemoteServices.self).service(
      at: backend.origin(of: "messaging", firebase: "https://fcmregistrations.googleapis.com"),
      isEmulator: backend.kind == .emulators, sending: .apiKey)
    let options =
      try container.find(MessagingRemoteOptions.self)
      ?? (backend.kind == .firebase ? .firebase : MessagingRemoteOptions())
    let source = try container.require((any InstallationSource).self)
    return MessagingRemote(project: container.options.projectID ?? "no-project", on: service, options: options) { _ in
      source
    }
  }
}
