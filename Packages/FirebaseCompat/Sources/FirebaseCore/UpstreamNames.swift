import Foundation
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
  ///
  /// `VESTA_BACKEND` in the environment names the backend where they leave it at the default.
  public static func configure(options: FirebaseOptions) {
    orStop { try configure(options: placed(options), libraries: nil) }
  }

  /// Configures an app with a name.
  ///
  /// `VESTA_BACKEND` in the environment names the backend where the options leave it at the default.
  public static func configure(name: String, options: FirebaseOptions) {
    orStop { try configure(name: name, options: placed(options), libraries: nil) }
  }

  /// The options with the backend of the environment, where they leave it at the default: the Firebase SDK's options
  /// cannot name one.
  static func placed(
    _ options: VestaOptions, _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(VestaError) -> VestaOptions {
    guard options.backend == .embedded() else { return options }
    let placed = options.copy()
    // The variables that name the backend alone, and not the file of the default app.
    let variables = environment.filter { $0.key != "VESTA_OPTIONS_FILE" }
    placed.backend = try VestaOptions.fromEnvironment(variables).backend
    return placed
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
