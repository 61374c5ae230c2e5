import VestaAuthBackend
import VestaAuthService
import VestaConcurrency
import VestaCore
import VestaFunctionsEndpoints
import VestaRulesGuards

/// Registers what the settings of a server say about its projects: whom they believe, and their rules.
enum ServerLibrary: Library {
  static let name = "vesta-server"

  static func components() -> [Component] {
    [
      Component(AuthServiceOptions.self, caching: .shared) { container in
        var options = AuthServiceOptions()
        let isDevelopment = SettingsOfApps.settings(of: container.appName).isDevelopment
        (options.isDevelopment, options.usesDevelopmentTokens) = (isDevelopment, isDevelopment)
        // As a project of the Emulator Suite is at first.
        if isDevelopment { options.initialConfig.hidesEmails = false }
        return options
      },
      Component(FunctionPlaces.self, caching: .shared) { container in
        try FunctionPlaces(SettingsOfApps.settings(of: container.appName).functions)
      },
      Component(RulesSources.self, caching: .shared) { container in
        rules(SettingsOfApps.settings(of: container.appName))
      },
    ]
  }

  /// The rules of files; without a file everything is allowed in development, and nothing otherwise.
  static func rules(_ settings: ServerSettings) -> RulesSources {
    var sources = settings.isDevelopment ? open : RulesSources()
    if let path = settings.rules["firestore"] { sources.firestore = .file(path) }
    if let path = settings.rules["storage"] { sources.storage = .file(path) }
    if let path = settings.rules["database"] { sources.database = .file(path) }
    return sources
  }

  private static let open = RulesSources(
    firestore: .text(
      """
      rules_version = '2';
      service cloud.firestore {
        match /databases/{database}/documents { match /{document=**} { allow read, write: if true; } }
      }
      """),
    storage: .text(
      """
      rules_version = '2';
      service firebase.storage { match /b/{bucket}/o { match /{path=**} { allow read, write: if true; } } }
      """),
    database: .text(#"{"rules":{".read":true,".write":true}}"#))
}

/// The settings of the server that an app belongs to: a library is a type, and has nothing of its own to keep them in.
enum SettingsOfApps {
  private static let table = Locked<[String: ServerSettings]>([:])

  /// The settings for an app; those of a server that is not for development for an app of none.
  static func settings(of app: String) -> ServerSettings {
    table.withLock { $0[app] } ?? ServerSettings(isDevelopment: false)
  }

  /// Sets or, with `nil`, forgets the settings for an app.
  static func set(_ settings: ServerSettings?, for app: String) { table.withLock { $0[app] = settings } }
}
