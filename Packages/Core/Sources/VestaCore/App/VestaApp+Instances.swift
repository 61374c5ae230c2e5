extension VestaApp {
  /// The instance of a product in an app, or the reason why there is none.
  ///
  /// ```swift
  /// public class func instance(for app: VestaApp? = nil) throws(VestaError) -> Auth {
  ///   try VestaApp.instance(of: Auth.self, for: app)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - type: The protocol that the product's component provides.
  ///   - app: The app; `nil` for the default app.
  ///   - library: The library that provides it, for the error message, such as "AuthLibrary of VestaAuth
  ///     (Packages/Auth)".
  /// - Returns: The instance.
  /// - Throws: `VestaError` with a sentence that says what to do.
  public static func instance<Instance: Sendable>(
    of type: Instance.Type, for app: VestaApp? = nil, providedBy library: StaticString? = nil
  ) throws(VestaError) -> Instance {
    try appOrDefault(app).container.require(type, providedBy: library)
  }

  /// An app, or the default app in its place.
  ///
  /// - Parameter app: The app; `nil` for the default app.
  /// - Returns: The app.
  /// - Throws: `VestaError` with a sentence that says what to do, when there is no default app.
  public static func appOrDefault(_ app: VestaApp?) throws(VestaError) -> VestaApp {
    guard let app = app ?? AppRegistry.shared.app(named: defaultName) else {
      throw VestaError(.notProvided, "There is no default app. Call VestaApp.configure(libraries:) first.")
    }
    return app
  }

  /// The instance of a product in an app; stops the process when there is none, after the log has said why.
  ///
  /// For entry points like `Auth.auth()`, where Firebase's API cannot fail either.
  ///
  /// - Parameters:
  ///   - type: The protocol that the product's component provides.
  ///   - app: The app; `nil` for the default app.
  ///   - library: The library that provides it, for the error message.
  ///   - call: How the program asked for it, such as "Auth.auth()".
  /// - Returns: The instance.
  public static func instanceOrStop<Instance: Sendable>(
    of type: Instance.Type, for app: VestaApp? = nil, providedBy library: StaticString? = nil, call: String
  ) -> Instance {
    do {
      return try instance(of: type, for: app, providedBy: library)
    } catch {
      stop("\(call): \(error.message)")
    }
  }

  /// Stops the process after the log has said why: in a release build the trap alone is silent.
  ///
  /// - Parameter sentence: The cause and the cure.
  public static func stop(_ sentence: String) -> Never {
    log.error("I-COR000009", sentence)
    // A misuse that Firebase's API answers with an exception, and that has no other answer.
    fatalError(sentence)
  }
}

private let log = Logger(service: "VestaCore")
