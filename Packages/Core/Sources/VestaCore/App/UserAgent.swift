/// Puts together what Vesta says of itself to servers: names and versions, the platform first.
enum UserAgent {
  /// Such as `vesta-core/0.1.0 swift/6 linux/x86_64 vesta-auth/0.1.0`; each part is `name/version`, libraries in the
  /// order of their names.
  static func string(libraries: [any Library.Type], others named: [String: String] = [:]) -> String {
    let own = ["vesta-core/\(VestaVersion())", "swift/\(languageMode)", "\(platformName)/\(architectureName)"]
    let brought = libraries.map { "\(token($0.name))/\(token($0.version))" }
    let registered = named.map { "\(token($0.key))/\(token($0.value))" }
    return (own + Set(brought + registered).sorted()).joined(separator: " ")
  }

  /// The string without characters that would end its part early or make a header invalid.
  private static func token(_ text: String) -> String {
    let safe = text.unicodeScalars.map { scalar -> Character in
      let isSafe =
        scalar.isASCII && scalar.value > 0x20 && scalar.value < 0x7F && !"/;,()".unicodeScalars.contains(scalar)
      return isSafe ? Character(scalar) : "_"
    }
    return safe.isEmpty ? "_" : String(safe)
  }

  private static let languageMode = "6"
}
