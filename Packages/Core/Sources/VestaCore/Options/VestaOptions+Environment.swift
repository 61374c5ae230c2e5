#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension VestaOptions {
  /// Reads the options from environment variables; whatever they leave out is as in an embedded app without a project.
  ///
  /// | variable | meaning |
  /// | --- | --- |
  /// | `VESTA_OPTIONS_FILE` | a `GoogleService-Info.plist` or `google-services.json`; the variables below go over it |
  /// | `VESTA_PROJECT_ID`, `VESTA_API_KEY` | the project |
  /// | `VESTA_APP_ID`, `VESTA_SENDER_ID` | the registered app |
  /// | `VESTA_DATABASE_URL`, `VESTA_STORAGE_BUCKET` | where two of the products look |
  /// | `VESTA_BACKEND` | `embedded`, `firebase`, the address of a server, `emulator:HOST:PORT` for all products, `emulators:auth=HOST:PORT,…`, or `emulators` with the variables of Firebase's command line, such as `FIREBASE_AUTH_EMULATOR_HOST` |
  /// | `VESTA_DIRECTORY` | the directory of the program's data: of the embedded engines, and with another backend of sessions, caches and pending writes |
  ///
  /// - Parameter environment: The variables; by default the process's.
  /// - Returns: The options. Only `VESTA_OPTIONS_FILE` makes this read a file.
  /// - Throws: `VestaError` with the variable in its message, or as `init(file:packageName:)` does.
  public static func fromEnvironment(
    _ environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws(VestaError) -> VestaOptions {
    try options(environment, file: nil)
  }

  /// - Parameter file: The path of the options file where the environment names none.
  static func options(_ environment: [String: String], file: String?) throws(VestaError) -> VestaOptions {
    let named = environment["VESTA_OPTIONS_FILE"].flatMap { $0.isEmpty ? nil : $0 }
    let options: VestaOptions
    if let path = named ?? file { options = try VestaOptions(file: path) } else { options = VestaOptions() }
    func set(_ variable: String, _ assign: (String) -> Void) {
      if let value = environment[variable], !value.isEmpty { assign(value) }
    }
    set("VESTA_PROJECT_ID") { options.projectID = $0 }
    set("VESTA_API_KEY") { options.apiKey = $0 }
    set("VESTA_APP_ID") { options.googleAppID = $0 }
    set("VESTA_SENDER_ID") { options.gcmSenderID = $0 }
    set("VESTA_DATABASE_URL") { options.databaseURL = $0 }
    set("VESTA_STORAGE_BUCKET") { options.storageBucket = $0 }
    options.backend = try backend(in: environment)
    return options
  }

  private static func backend(in environment: [String: String]) throws(VestaError) -> Backend {
    var directory: URL?
    if let path = environment["VESTA_DIRECTORY"], !path.isEmpty { directory = URL(filePath: path) }
    guard let text = environment["VESTA_BACKEND"], !text.isEmpty else { return .embedded(directory: directory) }
    let found = EmulatorAddresses(environment: environment)
    if text == "emulators", !found.isEmpty { return .emulators(found) }
    guard let backend = Backend(text: text, directory: directory) else {
      throw VestaError(
        .invalidOption,
        """
        VESTA_BACKEND is "\(text)". Let it be "embedded", "firebase", the address of a server such as \
        "https://vesta.example", "emulator:HOST:PORT" or "emulators:auth=HOST:PORT,…".
        """)
    }
    return backend
  }
}
