/// The embedded engine of a product: one for each project in a directory, made when it is first needed.
///
/// All apps of a process that name a project share its engines: they see each other's data, as two apps of one Firebase
/// project do. An engine is closed when the last of these apps has been deleted. Data of one app alone, such as
/// a session, a cache or pending writes, is the business of the client, in ``VestaApp/dataDirectory``.
///
/// ```swift
/// public enum AuthServiceLibrary: Library {
///   public static let name = "vesta-auth-service"
///   public static func components() -> [Component] {
///     [
///       EmbeddedService<AuthEngine>.component(
///         product: "Auth", keeps: ["auth"], dependencies: [.required((any StoreProvider).self, providedBy: …)]
///       ) { container, home in
///         let stores = try container.require((any StoreProvider).self)
///         return AuthEngine { try await stores.openStore(named: "auth", in: home.ready(), options: StoreOptions()) }
///       } close: { try await $0.close() },
///       EmbeddedService<AuthEngine>.provides((any AuthBackend).self) { $0 },
///       EmbeddedService<AuthEngine>.provides((any AuthAdminBackend).self) { $0 },
///     ]
///   }
/// }
/// ```
///
/// An engine opens its files in its first call (`LazyResource`), not in its initializer: `configure` does no I/O.
public struct EmbeddedService<Engine: Sendable>: Sendable {
  /// The engine.
  public let engine: Engine

  /// The component that provides an app with the engine of its project.
  ///
  /// - Parameters:
  ///   - product: The name of the product, for messages, such as "Auth".
  ///   - names: The names of the stores and folders that the engine keeps in its directory, that of its store last.
  ///   - dependencies: The protocols that `make` may resolve.
  ///   - make: Makes the engine, from the components of the app that needs it first; the engine may outlive that app.
  ///     Not called when the app has a backend other than the embedded one: that is an error which says so.
  ///   - close: Closes the engine, when the last app of the project has been deleted.
  public static func component(
    product: String,
    keeps names: [String] = [],
    dependencies: [Dependency] = [],
    _ make: @escaping @Sendable (_ container: ComponentContainer, _ home: EngineHome) throws -> Engine,
    close: @escaping @Sendable (Engine) async throws -> Void
  ) -> Component {
    Component(EmbeddedService<Engine>.self, caching: .shared, dependencies: dependencies) { container in
      try container.requireEmbeddedBackend(for: product)
      guard let app = container.app else {
        throw VestaError(.appDeleted, "The app was deleted while its \(product) service was being created.")
      }
      let home = EngineHome(app.project, names: names)
      return EmbeddedService(
        engine: try app.project.engine(product, make: { try make(container, home) }, close: close))
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

  /// A component that contributes a part of the engine to a protocol that several libraries contribute to.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any EventSource).self`.
  ///   - part: Returns what is contributed.
  public static func contributes<Interface: Sendable>(
    _ type: Interface.Type, _ part: @escaping @Sendable (Engine) throws -> Interface
  ) -> Component {
    Component.contribution(type) { container, isCacheable in
      isCacheable = true
      return try part(container.require(EmbeddedService<Engine>.self).engine)
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
