/// Names of topics.
public enum TopicName {
  /// The name without its prefix `/topics/`.
  ///
  /// - Parameters:
  ///   - name: A name, with the prefix or without.
  ///   - field: The field that contains it.
  /// - Throws: ``MessagingServiceError`` for a name that is empty, longer than 900 characters, or has others than
  ///   letters, digits and `-_.~%`.
  public static func checked(_ name: String, field: String) throws(MessagingServiceError) -> String {
    let plain = name.hasPrefix("/topics/") ? String(name.dropFirst("/topics/".count)) : name
    guard isValid(plain) else {
      throw .invalid(field, "A topic has 1 to 900 letters, digits and the characters - _ . ~ %")
    }
    return plain
  }

  /// Whether a name without prefix can be one of a topic.
  public static func isValid(_ name: String) -> Bool {
    guard (1...900).contains(name.utf8.count) else { return false }
    return name.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: "-_.~%".utf8.contains(byte)
      }
    }
  }
}
