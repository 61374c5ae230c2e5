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
      EmbeddedService<FunctionsEngine>.component(
        product: "Functions",
        dependencies: [.optional((any AuthInterop).self), .optional(FunctionsServiceOptions.self)]
      ) { container, _ in
        let options = try container.find(FunctionsServiceOptions.self) ?? FunctionsServiceOptions()
        let check = CallerCheck(
          auth: try container.find((any AuthInterop).self), verifyAppCheckToken: options.verifyAppCheckToken)
        return FunctionsEngine(registry: FunctionRegistry(), options: options, check: check)
      } close: {
        $0.close()
      },
      EmbeddedService<FunctionsEngine>.provides(FunctionRegistry.self) { $0.registry },
      EmbeddedService<FunctionsEngine>.provides((any FunctionsBackend).self) { $0 },
    ]
  }
}
