public import VestaDatabaseBackend

/// The rules of keys and paths.
public enum KeyRules {
  /// The longest key, in bytes of UTF-8.
  public static let maximumKeyBytes = 768

  /// The deepest path that can be written.
  public static let maximumDepth = 32

  /// The longest string, in bytes of UTF-8.
  public static let maximumStringBytes = 10_485_760

  /// Whether a key can have a byte of UTF-8; all that it cannot have is ASCII.
  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "."), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "["), UInt8(ascii: "]"),
      UInt8(ascii: "/"), 0..<0x20, 0x7F:
      false
    default: true
    }
  }

  /// Whether a key can have a character.
  static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0x7F || isAllowed(UInt8(truncatingIfNeeded: scalar.value))
  }

  /// Whether a string is a key that data can have.
  public static func isValidKey(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy(isAllowed) }

  /// Whether a string is a path: keys with slashes between them.
  public static func isValidPath(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 == UInt8(ascii: "/") || isAllowed($0) }
  }

  /// Whether a string is a path of the root, where `.info` is allowed in front.
  public static func isValidRootPath(_ text: String) -> Bool {
    let body = text.drop { $0 == "/" }
    if body == ".info" { return true }
    return isValidPath(body.hasPrefix(".info/") ? String(body.dropFirst(6)) : text)
  }

  /// Why a path cannot be written; `nil` when it can.
  public static func problem(writing path: DatabasePath) -> String? {
    if path.count > maximumDepth {
      return "path specified exceeds the maximum depth that can be written (32) or object contains a cycle"
    }
    for key in path.keys where key.text.utf8.count > maximumKeyBytes {
      return "has a key path longer than 768 bytes (\(key.text.utf8.count))."
    }
    return nil
  }
}
