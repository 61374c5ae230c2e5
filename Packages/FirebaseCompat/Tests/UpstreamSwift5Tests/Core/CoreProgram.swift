import FirebaseCore
import Foundation

// A program as users of the Firebase SDK write it, with several apps.

enum AppSetup {
  /// A second app, with options that are written out.
  static func secondary(_ name: String) -> FirebaseApp? {
    let secondaryOptions = FirebaseOptions(
      googleAppID: "1:27992087142:ios:2a4732a34787067a", gcmSenderID: "27992087142")
    secondaryOptions.apiKey = "AIzaSyBicqfAZPvMgC7NZkjayUEsrepxuXzZDsk"
    secondaryOptions.projectID = "projectid-12345"
    secondaryOptions.bundleID = "com.example.second"
    secondaryOptions.clientID = "27992087142-ola6qe637ulk8780vl8mo5vogegkm23n.apps.example.com"
    secondaryOptions.databaseURL = "https://myproject.firebaseio.com"
    secondaryOptions.storageBucket = "myproject.appspot.com"
    secondaryOptions.appGroupID = "group.com.example.second"
    secondaryOptions.appGroupID = "group.com.example.second"
    FirebaseApp.configure(name: name, options: secondaryOptions)
    guard let secondary = FirebaseApp.app(name: name) else {
      assertionFailure("Could not retrieve secondary app")
      return nil
    }
    return secondary
  }

  /// A third app, with options from a file.
  static func fromFile(_ path: String, _ name: String) -> FirebaseApp? {
    guard let fileOptions = FirebaseOptions(contentsOfFile: path) else { return nil }
    FirebaseApp.configure(name: name, options: fileOptions)
    return FirebaseApp.app(name: name)
  }

  static func quiet() -> Bool {
    FirebaseConfiguration.shared.setLoggerLevel(.min)
    let isQuiet = FirebaseConfiguration.shared.loggerLevel() == .error
    FirebaseConfiguration.shared.setLoggerLevel(FirebaseLoggerLevel.notice)
    return isQuiet
  }

  static func remove(_ app: FirebaseApp, _ completion: @escaping @Sendable (Bool) -> Void) {
    app.delete { success in
      completion(success && FirebaseApp.app(name: app.name) == nil)
    }
  }
}
