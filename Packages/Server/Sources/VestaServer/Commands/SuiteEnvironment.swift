import VestaBytes

/// The variables by which SDKs, test kits and tools find a server, as the Firebase CLI's suite sets them; pure.
struct SuiteEnvironment {
  /// The names of each port's variables, and what stands before its address.
  private static let variables: [String: [(name: String, prefix: String)]] = [
    "auth": [("FIREBASE_AUTH_EMULATOR_HOST", "")],
    "database": [("FIREBASE_DATABASE_EMULATOR_HOST", "")],
    "firestore": [("FIRESTORE_EMULATOR_HOST", ""), ("FIREBASE_FIRESTORE_EMULATOR_ADDRESS", "")],
    "storage": [("FIREBASE_STORAGE_EMULATOR_HOST", ""), ("STORAGE_EMULATOR_HOST", "http://")],
    "eventarc": [("CLOUD_EVENTARC_EMULATOR_HOST", "http://")],
    ServerSettings.hub: [("FIREBASE_EMULATOR_HUB", "")],
    ServerSettings.shared: [("VESTA_HOST", "")],
  ]

  /// The variables for a command.
  ///
  /// - Parameters:
  ///   - ports: The ports that are open.
  ///   - project: The project.
  ///   - existing: The variables that the command has anyway; `FIREBASE_CONFIG` is kept where it is set.
  /// - Returns: The variables to add.
  static func variables(
    _ ports: [VestaServer.Port], project: String, existing: [String: String]
  ) -> [String: String] {
    var result = ["GCLOUD_PROJECT": project, "GOOGLE_CLOUD_PROJECT": project]
    for port in ports {
      for (name, prefix) in variables[port.name] ?? [] { result[name] = prefix + address(of: port) }
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
