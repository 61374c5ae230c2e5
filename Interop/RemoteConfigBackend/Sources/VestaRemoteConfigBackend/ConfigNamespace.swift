/// The names of namespaces: 1 to 100 letters, digits, `-`, `_`, `.` and `:`, and no dot first.
///
/// Clients use them as names of directories.
public enum ConfigNamespace {
  /// The rule, for errors.
  public static let rule = "A namespace has 1 to 100 letters, digits, \"-\", \"_\", \".\" and \":\", and no dot first."

  /// The namespace of templates for servers, whose conditions may be structured.
  public static let servers = "firebase-server"

  /// Whether a string can be the name of a namespace.
  public static func isValid(_ name: String) -> Bool {
    guard (1...100).contains(name.utf8.count), !name.hasPrefix(".") else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
        UInt8(ascii: ":"):
        true
      default: false
      }
    }
  }
}
