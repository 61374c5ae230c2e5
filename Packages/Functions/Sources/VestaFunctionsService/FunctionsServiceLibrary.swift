public import VestaCore
import VestaEventsInterop
import VestaFunctionsBackend
import VestaHTTPFunctionsBackend
import VestaServiceInterop
import VestaStoreInterop

/// Registers the embedded functions service: provides `any FunctionsBackend` and the ``FunctionRegistry``.
///
/// It asks the engine of Auth who calls, where that is on the list; the engines of the app, for event functions; and
/// a store, for schedules (the store `functions` in the project's directory, opened with the first schedule). An app
/// may bring its own `FunctionsServiceOptions` by registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
/// try FunctionRegistry.registry().onCall("ping") { _ in "pong" }
/// ```
public enum FunctionsServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-functions-service"

  /// The version of the package.
  public static let version = VestaVersion()

  /// The embedded backend alone: a remote backend may be in the same list.
  public static let backends = Set<VestaOptions.Backend.Kind>.embedded

  /// The engine and its registry.
  public static func components() -> [Component] {
    [
      EmbeddedService<FunctionsEngine>.component(
        product: "Functions",
        keeps: [RemoteTriggers.fileName, "functions"],
        dependencies: [
          .optional(FunctionsServiceOptions.self), .optional((any StoreProvider).self),
          .optional((any CallerVerifier).self), .optional((any AppCheckVerifier).self),
          .optional((any EventTriggerDelivery).self),
        ]
      ) { container, home in
        let options = try container.find(FunctionsServiceOptions.self) ?? FunctionsServiceOptions()
        let registry = FunctionRegistry(
          events: events(home, options), schedules: try schedules(container, home, options))
        let callers = CallerCheck(
          callers: try container.find((any CallerVerifier).self), apps: try container.find((any AppCheckVerifier).self))
        return FunctionsEngine(
          registry: registry, options: options, callers: callers,
          triggers: try triggers(container, home, registry, options))
      } close: { engine in
        await engine.closeEvents()
        engine.close()
      },
      Component.contribution((any EventSource).self) { container, isCacheable in
        isCacheable = true
        return try container.require(EmbeddedService<FunctionsEngine>.self).engine.registry.schedules?.outbox
      },
      EmbeddedService<FunctionsEngine>.provides(FunctionRegistry.self) { $0.registry },
      EmbeddedService<FunctionsEngine>.provides((any FunctionsBackend).self) { $0 },
      EmbeddedService<FunctionsEngine>.provides((any HTTPFunctionsBackend).self) { $0 },
      EmbeddedService<FunctionsEngine>.provides((any EventTriggers).self) { engine in
        guard let triggers = engine.triggers else {
          throw VestaError(.notProvided, "This app has no way to functions of other programs.")
        }
        return triggers
      },
    ]
  }

  private static func triggers(
    _ container: ComponentContainer, _ home: EngineHome, _ registry: FunctionRegistry,
    _ options: FunctionsServiceOptions
  ) throws -> RemoteTriggers? {
    guard let delivery = try container.find((any EventTriggerDelivery).self) else { return nil }
    return RemoteTriggers(
      registry, delivery, project: container.options.resourceProjectID, folder: home.path,
      tuning: options.tuning.triggers
    ) { _ = try await home.ready() }
  }

  /// The event functions, which look for the sources of events when the first of them is registered.
  private static func events(_ home: EngineHome, _ options: FunctionsServiceOptions) -> EventFunctions {
    EventFunctions(options: options, clock: .system) { home.resolveAll((any EventSource).self) }
  }

  private static func schedules(
    _ container: ComponentContainer, _ home: EngineHome, _ options: FunctionsServiceOptions
  ) throws -> ScheduleRunner? {
    guard let stores = try container.find((any StoreProvider).self) else { return nil }
    return ScheduleRunner(clock: .system, tuning: options.tuning.schedules) {
      try await stores.openStore(named: "functions", in: home.ready(), options: StoreOptions())
    }
  }
}
