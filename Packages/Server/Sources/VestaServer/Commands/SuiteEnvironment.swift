import VestaBytes

/// The variables by which SDKs, test kits and tools find a server, as the Firebase CLI's suite sets them; pure.
struct SuiteEnvironment {
  /// The names of each port's variables, and whether they have a scheme before the address.
  private static let variables: [String: [(name: String, hasScheme: Bool)]] = [
    "auth": [("FIREBASE_AUTH_EMULATOR_HOST", false)],
    "database": [("FIREBASE_DATABASE_EMULATOR_HOST", false)],
    "firestore": [("FIRESTORE_EMULATOR_HOST", false), ("FIREBASE_FIRESTORE_EMULATOR_ADDRESS", false)],
    "storage": [("FIREBASE_STORAGE_EMULATOR_HOST", false), ("STORAGE_EMULATOR_HOST", true)],
    "eventarc": [("CLOUD_EVENTARC_EMULATOR_HOST", true)],
    ServerSettings.hub: [("FIREBASE_EMULATOR_HUB", false)],
    ServerSettings.shared: [("VESTA_HOST", false)],
  ]

  /// The variables for a command.
  ///
  /// - Parameters:
  ///   - ports: The ports that are open.
  ///   - project: The project.
  ///   - scheme: The scheme of the ports' URLs.
  ///   - existing: The variables that the command has anyway; `FIREBASE_CONFIG` is kept where it is set.
  /// - Returns: The variables to add.
  static func variables(
    _ ports: [VestaServer.Port], project: String, scheme: String, existing: [String: String]
  ) -> [String: String] {
    var result = ["GCLOUD_PROJECT": project, "GOOGLE_CLOUD_PROJECT": project]
    for port in ports {
      for (name, hasScheme) in variables[port.name] ?? [] {
        result[name] = (hasScheme ? "\(scheme)://" : "") + address(of: port)
      }
    }
    if existing["FIREBASE_CONFIG"] == nil {
      let config: JSONObject = [
        "projectId": .string(project), "storageBucket": .string("\(project).appspot.com"),
        "databaseURL": .string("https://\(project).firebaseio.com"),
      ]
      result["FIREBASE_CONFIG"] = (try? config.json()).map { String(decoding: $0, as: UTF8.self) }
    }
    return result
  }

  /// The address at which a client on this machine reaches a port.
  static func address(of port: VestaServer.Port) -> String {
    let host =
      switch port.hosts.first {
      case "0.0.0.0"?, nil: "127.0.0.1"
      case "::"?: "::1"
      case let host?: host
      }
    return host.contains(":") ? "[\(host)]:\(port.number)" : "\(host):\(port.number)"
  }
}
