import VestaBytes

/// The parts of `firebase.json` and `.firebaserc` that a server reads; pure.
struct FirebaseConfiguration {
  /// The hosts of products, by the name of their emulator.
  private(set) var hosts: [String: String] = [:]
  /// The files of rules as they are written, by product.
  private(set) var rules: [String: String] = [:]
  /// Whether requests are expected to name one project.
  private(set) var isSingleProject = true
  /// The ports of products, by the name of their emulator.
  private(set) var ports: [String: Int] = [:]

  /// The addresses of functions that run in other programs, by name.
  private(set) var functions: [String: String] = [:]

  /// Reads `firebase.json`.
  ///
  /// - Throws: ``ServerError`` for what is no JSON, and for a port that is none.
  init(json: [UInt8]) throws(ServerError) {
    guard let object = try? JSONObject(json: json) else {
      throw ServerError("firebase.json is not valid JSON. Mend it, or name another file with --config.")
    }
    for product in ["firestore", "storage", "database"] {
      // Several databases or buckets have a list, of which the first one counts.
      let section = object[product]?.object ?? object[product]?.array?.first?.object
      if let path = section?["rules"]?.string { rules[product] = path }
    }
    isSingleProject = object["emulators"]?.object?["singleProjectMode"] != false
    for member in object["emulators"]?.object?.members ?? [] {
      guard let entry = member.value.object else { continue }
      let name = member.name
      if let host = entry["host"]?.string { hosts[name] = host }
      if name == "functions" {
        for place in entry["proxy"]?.object?.members ?? [] { functions[place.name] = place.value.string ?? "" }
      }
      guard let port = entry["port"] else { continue }
      guard let number = port.integer, (0...65_535).contains(number) else {
        throw ServerError("emulators.\(name).port of firebase.json is no port: give a number from 0 to 65535.")
      }
      ports[name] = Int(number)
    }
  }

  /// The default project of `.firebaserc`; `nil` where it has none.
  static func defaultProject(json: [UInt8]) -> String? {
    (try? JSONObject(json: json))?["projects"]?.object?["default"]?.string
  }
}
