public import VestaCore
import VestaMessagingBackend
import VestaStoreInterop

/// Registers the embedded messaging service: provides `any MessagingBackend` and `any MessagingAdminBackend`,
/// one engine for both, and needs a store.
///
/// The store `messaging` in the app's data directory is opened at the first call and closed when the app is deleted.
/// An app may bring its own ``MessagingServiceOptions`` by registering a component that provides them, and transports
/// by contributing components for `any PushTransport`.
///
/// ```swift
/// try VestaApp.configure(libraries: [MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self])
/// let admin = try app.container.require((any MessagingAdminBackend).self)
/// ```
public enum MessagingServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-messaging-service"

  /// The version of the package.
  public static var version: String { VestaVersion() }

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    let engine = Dependency.required((any EmbeddedMessaging).self)
    return [
      Component(
        (any EmbeddedMessaging).self,
        dependencies: [
          .required(
            (any StoreProvider).self,
            providedBy: "VestaSQLite (keeps everything in a file) or VestaMemoryStore (keeps nothing after the process)"
          ),
          .optional(MessagingServiceOptions.self),
        ]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedMessagingService(container)
      },
      Component((any MessagingBackend).self, dependencies: [engine]) { container, _ in
        try container.require((any EmbeddedMessaging).self).engine
      },
      Component((any MessagingAdminBackend).self, dependencies: [engine]) { container, _ in
        try container.require((any EmbeddedMessaging).self).engine
      },
    ]
  }
}

/// What both protocols of an app come from: one engine.
protocol EmbeddedMessaging: Sendable {
  var engine: MessagingEngine { get }
}

/// The engine of an app, which ends with the app.
struct EmbeddedMessagingService: EmbeddedMessaging, ComponentLifecycleMaintainer {
  let engine: MessagingEngine

  init(_ container: ComponentContainer) throws {
    let appOptions = container.options
    guard case .embedded = appOptions.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(appOptions.backend)", and there is no remote transport for Messaging yet. \
        Use the embedded backend.
        """
      )
    }
    guard let app = container.app else {
      throw VestaError(.appDeleted, "The app was deleted while its messaging service was being made.")
    }
    let stores = try container.require((any StoreProvider).self)
    let directory = path(of: app.dataDirectory)
    engine = MessagingEngine(
      projectID: appOptions.projectID ?? "no-project", senderID: appOptions.gcmSenderID,
      options: container.resolve(MessagingServiceOptions.self) ?? MessagingServiceOptions(),
      transports: container.resolveAll((any PushTransport).self)
    ) {
      try await stores.openStore(named: "messaging", in: directory, options: StoreOptions())
    }
  }

  func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await engine.close()
    } catch {
      log.error("I-MSS000001", "The messaging service's store could not be closed: \(error)")
    }
  }
}

private let log = Logger(service: "VestaMessagingService")
