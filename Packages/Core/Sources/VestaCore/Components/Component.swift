/// The description of an instance: the protocol that it provides, its dependencies, and how to create it.
///
/// ```swift
/// Component((any AuthInterop).self, dependencies: [.optional((any AppCheckInterop).self)]) { container, isCacheable in
///   isCacheable = true
///   return Auth(options: container.options, appCheck: try container.find((any AppCheckInterop).self))
/// }
/// ```
public struct Component: Sendable {
  /// Whether a component is the one provider of its protocol or one contribution among several.
  enum Role: Sendable { case provider, contribution }

  /// When the instance is created.
  public let instantiationTiming: InstantiationTiming

  /// The protocols that the creation block may resolve.
  public let dependencies: [Dependency]

  let type: Any.Type
  let role: Role
  let makeSlot: @Sendable (SlotInfo) -> AnySlot

  /// A component that is the one provider of a protocol.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any AuthInterop).self`; a leaf that provides nothing to others names a private
  ///     protocol or its own class.
  ///   - instantiationTiming: When the instance is created.
  ///   - dependencies: The protocols that the creation block may resolve; checked as a whole while the app is being
  ///     configured.
  ///   - creationBlock: Makes the instance, on the thread that asked first. It sets `isCacheable` to `true` to have the
  ///     same instance handed out from then on; otherwise it is called for each request. It returns `nil` where there
  ///     is nothing to provide. It may resolve other components and must not wait for another thread that does.
  public init<Interface: Sendable>(
    _ type: Interface.Type,
    instantiationTiming: InstantiationTiming = .lazy,
    dependencies: [Dependency] = [],
    creationBlock: @escaping @Sendable (_ container: ComponentContainer, _ isCacheable: inout Bool) throws -> Interface?
  ) {
    self.init(type, .provider, instantiationTiming, dependencies, creationBlock)
  }

  /// A component that is the one provider of a protocol, with one rule for all its instances.
  ///
  /// ```swift
  /// Component((any AuthInterop).self, caching: .shared, dependencies: [.required(Auth.self)]) { container in
  ///   try container.require(Auth.self)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any AuthInterop).self`.
  ///   - caching: Whether the app shares one instance.
  ///   - instantiationTiming: When the instance is created.
  ///   - dependencies: The protocols that the creation block may resolve.
  ///   - create: Creates the instance, on the thread that asked first; `nil` where there is nothing to provide.
  public init<Interface: Sendable>(
    _ type: Interface.Type,
    caching: Caching,
    instantiationTiming: InstantiationTiming = .lazy,
    dependencies: [Dependency] = [],
    create: @escaping @Sendable (_ container: ComponentContainer) throws -> Interface?
  ) {
    self.init(type, .provider, instantiationTiming, dependencies) { container, isCacheable in
      isCacheable = caching == .shared
      return try create(container)
    }
  }

  /// Whether the instance of a component is kept.
  public enum Caching: Sendable, Hashable {
    /// The app has one instance.
    case shared
    /// Each request creates an instance.
    case perRequest
  }

  /// A component whose creation block is not typed, for registries that are filled from data.
  ///
  /// An instance that is not an `Interface` is refused with `VestaError.Code.wrongInstanceType`.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any AuthInterop).self`.
  ///   - instantiationTiming: When the instance is created.
  ///   - dependencies: The protocols that the creation block may resolve.
  ///   - untypedCreationBlock: Makes the instance, as in the typed form.
  public init<Interface: Sendable>(
    _ type: Interface.Type,
    instantiationTiming: InstantiationTiming = .lazy,
    dependencies: [Dependency] = [],
    untypedCreationBlock:
      @escaping @Sendable (_ container: ComponentContainer, _ isCacheable: inout Bool) throws -> Any?
  ) {
    self.init(type, .provider, instantiationTiming, dependencies) { container, isCacheable in
      guard let instance = try untypedCreationBlock(container, &isCacheable) else { return nil }
      guard let interface = instance as? Interface else {
        throw VestaError(
          .wrongInstanceType,
          """
          The component for \(name(of: type)) made a \(Swift.type(of: instance)), which is not one. \
          Let its creation block return something that conforms.
          """
        )
      }
      return interface
    }
  }

  /// A component that is one of several for a protocol; `ComponentContainer.resolveAll` returns them all.
  ///
  /// - Parameters:
  ///   - type: The protocol, as in `(any EndpointProvider).self`.
  ///   - instantiationTiming: When the instance is created.
  ///   - dependencies: The protocols that the creation block may resolve.
  ///   - creationBlock: Makes the instance, as for a provider.
  public static func contribution<Interface: Sendable>(
    _ type: Interface.Type,
    instantiationTiming: InstantiationTiming = .lazy,
    dependencies: [Dependency] = [],
    creationBlock: @escaping @Sendable (_ container: ComponentContainer, _ isCacheable: inout Bool) throws -> Interface?
  ) -> Component {
    Component(type, .contribution, instantiationTiming, dependencies, creationBlock)
  }

  private init<Interface: Sendable>(
    _ type: Interface.Type,
    _ role: Role,
    _ instantiationTiming: InstantiationTiming,
    _ dependencies: [Dependency],
    _ creationBlock: @escaping @Sendable (ComponentContainer, inout Bool) throws -> Interface?
  ) {
    self.type = type
    self.role = role
    self.instantiationTiming = instantiationTiming
    self.dependencies = dependencies
    makeSlot = { info in ComponentSlot<Interface>(info, create: creationBlock) }
  }

  var key: ObjectIdentifier { ObjectIdentifier(type) }
}

/// The name of a protocol as its author would write it, without the module.
func name(of type: Any.Type) -> String {
  let text = String(describing: type)
  return text.hasPrefix("any ") ? String(text.dropFirst(4)) : text
}
