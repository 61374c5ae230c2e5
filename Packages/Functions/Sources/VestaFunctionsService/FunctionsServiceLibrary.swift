import VestaAuthInterop
public import VestaCore
import VestaFunctionsBackend

/// Registers the embedded functions service: provides `any FunctionsBackend` and the ``FunctionRegistry``.
///
/// It uses Auth where that is there, to know who calls. An app may bring its own `FunctionsServiceOptions` by
/// registering a component that provides them.
///
/// ```swift
/// try VestaApp.configure(options: options, libraries: [FunctionsLibrary.self, FunctionsServiceLibrary.self])
/// try FunctionRegistry.registry().onCall("ping") { _ in "pong" }
/// ```
public enum FunctionsServiceLibrary: Library {
  /// The name in user-agent strings.
  public static let name = "vesta-functions-service"

  /// The version of the package.
  public static var version: String { VestaVersion() }

  /// The engine and its registry.
  public static func components() -> [Component] {
    [
      Component(
        EmbeddedFunctions.self,
        dependencies: [.optional((any AuthInterop).self), .optional(FunctionsServiceOptions.self)]
      ) { container, isCacheable in
        isCacheable = true
        return try EmbeddedFunctions(container)
      },
      Component(FunctionRegistry.self, dependencies: [.required(EmbeddedFunctions.self)]) { container, _ in
        try container.require(EmbeddedFunctions.self).engine.registry
      },
      Component((any FunctionsBackend).self, dependencies: [.required(EmbeddedFunctions.self)]) { container, _ in
        try container.require(EmbeddedFunctions.self).engine
      },
    ]
  }
}

/// The engine of an app, which ends with the app.
struct EmbeddedFunctions: ComponentLifecycleMaintainer {
  let engine: FunctionsEngine

  init(_ container: ComponentContainer) throws {
    guard case .embedded = container.options.backend else {
      throw VestaError(
        .creationFailed,
        """
        The backend is "\(container.options.backend)", and there is no remote transport for Functions yet. \
        Use the embedded backend.
        """
      )
    }
    let options = container.resolve(FunctionsServiceOptions.self) ?? FunctionsServiceOptions()
    let check = CallerCheck(
      auth: container.resolve((any AuthInterop).self), verifyAppCheckToken: options.verifyAppCheckToken)
    engine = FunctionsEngine(registry: FunctionRegistry(), options: options, check: check)
  }

  func appWillBeDeleted(_ app: VestaApp) async { engine.close() }
}
