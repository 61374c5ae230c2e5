public import VestaCore
import VestaCryptoInterop
import VestaMessagingBackend
import VestaStoreInterop
import VestaTransportInterop

/// Registers the delivery to browsers: contributes `any PushTransport` and provides `any WebPushKeySource`, and needs a
/// store, a crypto provider and a client of HTTP.
///
/// The store `messaging-push` in the project's directory has the key of the project. An app may bring its own
/// ``MessagingPushOptions`` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(libraries: [
///   MessagingServiceLibrary.self, MessagingPushLibrary.self, CryptoLibrary.self, SQLiteLibrary.self,
///   TransportLibrary.self,
/// ])
/// ```
public enum MessagingPushLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-messaging-push"

  /// The embedded one.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The transport, and what it contributes and provides.
  public static func components() -> [Component] {
    [
      EmbeddedService<WebPushTransport>.component(
        product: "Web Push",
        keeps: ["messaging-push"],
        dependencies: [
          .required((any StoreProvider).self, providedBy: StoreLibraries.providedBy),
          .required((any CryptoProvider).self, providedBy: "CryptoLibrary of VestaCrypto (Packages/Crypto)"),
          .optional(MessagingPushOptions.self), .optional((any HTTPClient).self),
        ]
      ) { container, home in
        let stores = try container.require((any StoreProvider).self)
        return WebPushTransport(
          project: container.options.resourceProjectID,
          crypto: try container.require((any CryptoProvider).self),
          options: try container.find(MessagingPushOptions.self) ?? MessagingPushOptions(),
          client: { [weak container] in try container?.find((any HTTPClient).self) },
          openStore: { try await stores.openStore(named: "messaging-push", in: home.ready(), options: StoreOptions()) })
      } close: {
        try await $0.close()
      },
      EmbeddedService<WebPushTransport>.contributes((any PushTransport).self) { $0 },
      EmbeddedService<WebPushTransport>.provides((any WebPushKeySource).self) { $0 },
    ]
  }
}
