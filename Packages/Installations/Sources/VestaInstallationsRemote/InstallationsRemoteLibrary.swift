public import VestaCore
import VestaInstallationsBackend
import VestaServiceInterop
import VestaTransportInterop

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Registers the service of installations of another machine: provides `any InstallationsBackend`, and the app's own
/// installation as `any InstallationSource`, where the app's backend is a server, emulators or Firebase.
///
/// It needs a transport.
/// The remote backends of Remote Config and Messaging use the installation. Where emulators have no address of the
/// service, there is none. An app may bring its own ``InstallationsRemoteOptions``, and `RESTOptions`, by components
/// that provide them.
///
/// ```swift
/// let options = VestaOptions(projectID: "demo", backend: .emulator(host: "localhost", port: 7700))
/// try VestaApp.configure(
///   options: options, libraries: [MessagingLibrary.self, MessagingRemoteLibrary.self, InstallationsRemoteLibrary.self,
///   TransportLibrary.self])
/// ```
public enum InstallationsRemoteLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-installations-remote"

  /// Servers, emulators and Firebase.
  public static let backends = Set<VestaOptions.Backend.Kind>.remote

  /// The remote service, and the keeper of the app's installation.
  public static func components() -> [Component] {
    [
      Component(
        (any InstallationsBackend).self, caching: .shared,
        dependencies: [
          .required(RemoteServices.self, providedBy: TransportLibraries.providedBy),
          .optional(InstallationsRemoteOptions.self),
        ]
      ) { try remote(in: $0) },
      Component(
        (any InstallationSource).self, caching: .shared,
        dependencies: [.required((any InstallationsBackend).self), .optional(InstallationsRemoteOptions.self)]
      ) { container in
        guard let backend = try container.find((any InstallationsBackend).self) else { return nil }
        return try keeper(of: backend, in: container)
      },
    ]
  }

  private static func remote(in container: ComponentContainer) throws -> InstallationsRemote? {
    let (app, backend) = (container.options, container.options.backend)
    // A list of emulators need not have this one: the suite has none.
    if case .emulators(let addresses) = backend, addresses["installations"] == nil { return nil }
    let service = try container.require(RemoteServices.self).service(
      at: backend.origin(of: "installations", firebase: "https://firebaseinstallations.googleapis.com"),
      isEmulator: backend.kind == .emulators, sending: [.apiKey, .bundleID, .heartbeats])
    return InstallationsRemote(
      project: app.resourceProjectID, on: service, options: try options(in: container))
  }

  private static func keeper(
    of backend: any InstallationsBackend, in container: ComponentContainer
  ) throws -> InstallationKeeper {
    let ids = InstallationKeeper.IDs { [weak app = container.app] in
      app?.installationID ?? ""
    } renew: { [weak app = container.app] in
      app?.renewInstallationID()
    }
    return InstallationKeeper(
      of: backend, appID: container.options.googleAppID, ids: ids,
      file: container.app?.dataDirectory.appending(path: "installation.json"),
      tuning: try options(in: container).tuning)
  }

  private static func options(in container: ComponentContainer) throws -> InstallationsRemoteOptions {
    var options = try container.find(InstallationsRemoteOptions.self) ?? InstallationsRemoteOptions()
    if options.sdkVersion.isEmpty { options.sdkVersion = "s:\(version)" }
    return options
  }
}
