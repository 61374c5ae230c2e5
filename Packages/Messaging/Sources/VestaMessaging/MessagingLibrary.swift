public import VestaCore
import VestaMessagingBackend
public import VestaMessagingInterop
import VestaServiceInterop

/// The library that adds Messaging to an app.
///
/// It needs a `MessagingBackend`, and offers `MessagingInterop` to other products.
///
/// ```swift
/// try VestaApp.configure(libraries: [MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self])
/// let token = try await Messaging.messaging().token()
/// ```
public enum MessagingLibrary: Library {
  /// The name of the library.
  public static let name = "vesta-messaging"

  /// The version of the library.
  public static let version = VestaVersion()

  private static let backendLibraries = """
    MessagingServiceLibrary of VestaMessagingService (the embedded engine; Packages/Messaging), which \
    needs a store too, such as SQLiteLibrary of VestaSQLite (Packages/SQLite), or MessagingRemoteLibrary \
    of VestaMessagingRemote (a server, emulators or Firebase; Packages/Messaging) with \
    InstallationsRemoteLibrary of VestaInstallationsRemote (Packages/Installations) and TransportLibrary \
    of VestaTransport (Packages/Transport)
    """

  private static func messaging(_ container: ComponentContainer) throws -> Messaging? {
    guard let app = container.app else { return nil }
    // An engine in the process is reached without a network.
    let isEmbedded = container.options.backend.kind == .embedded
    return Messaging(
      app: app, backend: try container.require((any MessagingBackend).self),
      network: isEmbedded ? nil : try container.find((any NetworkMonitor).self))
  }

  /// `Messaging` itself, and the same instance as `MessagingInterop`.
  public static func components() -> [Component] {
    [
      Component(
        Messaging.self,
        dependencies: [
          .required((any MessagingBackend).self, providedBy: backendLibraries),
          .optional((any NetworkMonitor).self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try messaging(container)
      },
      Component((any MessagingInterop).self, dependencies: [.required(Messaging.self)]) { container, isCacheable in
        isCacheable = true
        return try container.require(Messaging.self)
      },
    ]
  }
}

extension Messaging: ComponentLifecycleMaintainer {
  /// Ends the connection and the streams.
  public func appWillBeDeleted(_ app: VestaApp) async { end() }
}

extension Messaging: MessagingInterop {}
