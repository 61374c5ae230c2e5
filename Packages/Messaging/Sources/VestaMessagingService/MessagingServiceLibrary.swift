public import VestaCore
import VestaMessagingBackend
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded messaging service: provides `any MessagingBackend` and `any MessagingAdminBackend`,
/// one engine for both, and needs a store.
///
/// The store `messaging` in the project's directory is opened at the first call and closed with the last app of the
/// project. An app may bring its own ``MessagingServiceOptions`` by registering a component that provides them, and
/// transports by contributing components for `any PushTransport`.
///
/// ```swift
/// try VestaApp.configure(libraries: [MessagingLibrary.self, MessagingServiceLibrary.self, SQLiteLibrary.self])
/// let admin = try app.container.require((any MessagingAdminBackend).self)
/// ```
public enum MessagingServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-messaging-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded one.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine, and the two protocols that it provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<MessagingEngine>.component(
        product: "Messaging",
        keeps: ["messaging"],
        dependencies: [
          .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
          .optional(MessagingServiceOptions.self),
          .optional((any CallerVerifier).self),
          .optional((any AppCheckVerifier).self), .optional(AppCheckEnforcement.self),
        ]
      ) { container, home in
        let stores = try container.require((any StoreProvider).self)
        return MessagingEngine(
          projectID: container.options.resourceProjectID, senderID: container.options.gcmSenderID,
          options: try container.find(MessagingServiceOptions.self) ?? MessagingServiceOptions(),
          transports: container.resolveAll((any PushTransport).self),
          callers: CallerCheck(
            callers: try container.find((any CallerVerifier).self),
            apps: try container.find((any AppCheckVerifier).self),
            enforcesAppCheck: try container.find(AppCheckEnforcement.self)?.products.contains("messaging") ?? false)
        ) {
          try await stores.openStore(named: "messaging", in: home.ready(), options: StoreOptions())
        }
      } close: {
        try await $0.close()
      },
      EmbeddedService<MessagingEngine>.provides((any MessagingBackend).self) { $0 },
      EmbeddedService<MessagingEngine>.provides((any MessagingAdminBackend).self) { $0 },
    ]
  }
}
