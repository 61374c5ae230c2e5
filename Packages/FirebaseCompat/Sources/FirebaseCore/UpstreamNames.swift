import VestaCore

/// The app, by the Firebase SDK's name.
public typealias FirebaseApp = VestaApp
/// The options of an app, by the Firebase SDK's name.
public typealias FirebaseOptions = VestaOptions
/// The configuration of the process, by the Firebase SDK's name.
public typealias FirebaseConfiguration = VestaConfiguration
/// The levels of the log, by the Firebase SDK's name.
public typealias FirebaseLoggerLevel = VestaLoggerLevel

/// The version of the SDK.
public func FirebaseVersion() -> String { VestaVersion() }

extension VestaApp {
  /// Configures the default app with the products that this program imports, as the Firebase SDK does.
  ///
  /// Stops the program with a sentence when it cannot be configured; `try configure(libraries:)` throws instead.
  public static func configure() { orStop { try configure(libraries: nil) } }

  /// Configures the default app with options.
  public static func configure(options: FirebaseOptions) { orStop { try configure(options: options, libraries: nil) } }

  /// Configures an app with a name.
  public static func configure(name: String, options: FirebaseOptions) {
    orStop { try configure(name: name, options: options, libraries: nil) }
  }

  private static func orStop(_ configure: () throws -> VestaApp) {
    do {
      _ = try configure()
    } catch {
      let sentence = "FirebaseApp.configure() failed. \(error)"
      Logger(service: "FirebaseCore").error("I-FIR000001", sentence)
      preconditionFailure(sentence)
    }
  }
}
