/// The embedded engine of a product: one for each app, created when it is first needed, and closed with the app.
///
/// ```swift
/// public enum AuthServiceLibrary: Library {
///   public static let name = "vesta-auth-service"
///   public static func components() -> [Component] {
///     [
///       EmbeddedService<AuthEngine>.component(
///         product: "Auth", dependencies: [.required((any StoreProvider).self, providedBy: …)]
///       ) { container, directory in
///         let stores = try container.require((any StoreProvider).self)
///         return AuthEngine { try await stores.openStore(named: "auth", in: directory, options: StoreOptions()) }
///       } close: { try await $0.close() },
///       EmbeddedService<AuthEngine>.provides((any AuthBackend).self) { $0 },
///       EmbeddedService<AuthEngine>.provides((any AuthAdminBackend).self) { $0 },
///     ]
///   }
/// }
/// ```
///
/// An engine opens its files in its first call (`LazyResource`), not in its initializer: `configure` does no I/O.
public struct EmbeddedService<Engine: Sendable>: ComponentLifecycleMaintainer {
  /// The engine.
  public let engine: Engine

  private let product: String
  private let close: @Sendable (Engine) async throws -> Void

  /// The component that owns the engine of an app.
  ///
  /// - Parameters:
  ///   - product: The name of the product, for messages, such as "Auth".
  ///   - dependencies: The protocols that `make` may resolve.
  ///   - make: Makes the engine; gets the container and the path of the app's data directory. Not called when the app
  ///     has a backend other than the embedded one: that is an error which says so.
  ///   - close: Closes the engine, when the app is deleted.
  public static func component(
    product: String,
    dependencies: [Dependency] = [],
    _ make: @escaping @Sendable (_ container: ComponentContainer, _ directory: String) throws -> Engine,
    close: @escaping @Sendable (Engine) async throws -> Void
  ) -> Component {
    Component(EmbeddedService<Engine>.self, caching: .shared, dependencies: dependencies) { container in
      try container.requireEmbeddedBackend(for: product)
      guard let app = container.app else {
        throw VestaError(.appDeleted, "The app was deleted while its \(product) service was being created.")
      }
      return EmbeddedService(engine: try make(container, app.dataPath), product: product, close: close)
    }
  }

  /// A component that provides a protocol by the engine.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any AuthBackend).self`.
  ///   - part: Returns what provides it; usually the engine itself.
  public static func provides<Interface: Sendable>(
    _ type: Interface.Type, _ part: @escaping @Sendable (Engine) throws -> Interface
  ) -> Component {
    Component(type, caching: .shared, dependencies: [.required(EmbeddedService<Engine>.self)]) { container in
      try part(container.require(EmbeddedService<Engine>.self).engine)
    }
  }

  /// Closes the engine; a failure is logged, because nobody waits for it.
  public func appWillBeDeleted(_ app: VestaApp) async {
    do {
      try await close(engine)
    } catch {
      log.error("I-COR000010", "The \(product) service of the app \"\(app.name)\" could not be closed: \(error)")
    }
  }
}

extension ComponentContainer {
  /// Checks that the app has the embedded backend, for a service that has no other one.
  ///
  /// - Parameter product: The name of the product, for the message.
  /// - Throws: `VestaError` with `.creationFailed` for an app with another backend.
  public func requireEmbeddedBackend(for product: String) throws(VestaError) {
    guard case .embedded = options.backend else {
      throw VestaError(
        .creationFailed,
        """
        The app "\(appName)" is configured with the backend "\(options.backend)", and \(product) has no remote \
        transport yet. Use the embedded backend.
        """
      )
    }
  }
}

private let log = Logger(service: "VestaCore")
