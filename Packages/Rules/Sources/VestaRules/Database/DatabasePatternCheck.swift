import VestaPatterns

/// The expressions that rules of the Realtime Database take: a part of RE2's, with anchors at the ends alone.
enum DatabasePatternCheck {
  /// An expression that matches a whole text in a part of which the given one is found.
  ///
  /// Values may be long, and whole texts are matched with a table.
  static func pattern(_ text: String, flags: String) -> Result<Pattern, DatabaseRulesFailure> {
    guard flags.allSatisfy({ $0 == "i" }) else {
      return .failure(DatabaseRulesFailure("regular expressions do not support flags other than i"))
    }
    if let reason = refusal(Array(text.utf8)) { return .failure(DatabaseRulesFailure(reason)) }
    do throws(PatternError) {
      // Alone first: what stands around it could complete it.
      _ = try Pattern(text, ignoresCase: !flags.isEmpty, isReused: false)
      return .success(try Pattern("(?s:.*)(?:\(text))(?s:.*)", ignoresCase: !flags.isEmpty))
    } catch {
      return .failure(DatabaseRulesFailure("Invalid regular expression: \(error.description)."))
    }
  }

  /// The reason why an expression of RE2 is none here.
  private static func refusal(_ text: [UInt8]) -> String? {
    var (index, isInClass) = (0, false)
    // Where an alternative begins nothing may end one.
    var isEmptyAlternative = true
    var depth = 0
    while index < text.count {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\\"):
        guard index + 1 < text.count else { return "Invalid regular expression: trailing \\." }
        if (49...57).contains(text[index + 1]) { return "Invalid regular expression: no back-references." }
        index += 1
        isEmptyAlternative = false
      case UInt8(ascii: "["): isInClass = true
      case UInt8(ascii: "]"):
        isInClass = false
        isEmptyAlternative = false
      case _ where isInClass: break
      case UInt8(ascii: "("):
        guard index + 1 < text.count, text[index + 1] != UInt8(ascii: "?") else {
          return "Invalid regular expression: invalid group."
        }
        depth += 1
        isEmptyAlternative = true
      case UInt8(ascii: "|"), UInt8(ascii: ")"):
        if isEmptyAlternative, depth > 0 { return "Invalid regular expression: an alternative is empty." }
        if byte == UInt8(ascii: ")") { depth -= 1 }
        isEmptyAlternative = byte == UInt8(ascii: "|")
      case UInt8(ascii: "^"):
        if index != 0 { return "Invalid regular expression: ^ is allowed at the beginning only." }
      case UInt8(ascii: "$"):
        if index != text.count - 1 { return "Invalid regular expression: $ is allowed at the end only." }
      default: isEmptyAlternative = false
      }
      index += 1
    }
    return nil
  }
}

/// An error in an expression, at run time or at upload.
public struct DatabaseRulesFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The message, as the production service writes it where it is known.
  public let description: String

  init(_ description: String) { self.description = description }
}
