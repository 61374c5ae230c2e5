/// Wraps the lines of comments that are wider than 120 columns, which swift-format leaves alone.
///
/// The rest of a line moves to the beginning of the next line of the same paragraph, or to a separate line. Code
/// blocks and rows of tables stay as they are, and so do comments behind code.
///
/// - Parameter text: A Swift file.
/// - Returns: The file with its comments wrapped.
public func wrappingComments(in text: String) -> String {
  var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  var isInFence = false
  var index = 0
  while index < lines.count {
    defer { index += 1 }
    guard let comment = CommentLine(lines[index]) else {
      isInFence = false
      continue
    }
    if comment.text.trimmed.hasPrefix("```") { isInFence.toggle() }
    guard !isInFence, lines[index].count > 120, !comment.text.trimmed.hasPrefix("|") else { continue }
    guard let (fitting, rest) = comment.split(at: 120) else { continue }
    lines[index] = fitting
    if index + 1 < lines.count, let next = CommentLine(lines[index + 1]), next.continues(comment) {
      lines[index + 1] = next.head + next.indent + rest + " " + next.text.trimmed
    } else {
      lines.insert(comment.head + comment.continuationIndent + rest, at: index + 1)
    }
  }
  return lines.joined(separator: "\n")
}

/// A line that is nothing but a comment.
private struct CommentLine {
  /// The spaces and slashes before the text.
  let head: String
  /// The text, with the spaces in front of it.
  let text: String

  init?(_ line: String) {
    let spaces = line.prefix { $0 == " " }
    let slashes = line.dropFirst(spaces.count).prefix { $0 == "/" }
    guard slashes.count == 2 || slashes.count == 3 else { return nil }
    head = String(spaces + slashes)
    text = String(line.dropFirst(head.count))
  }

  var indent: String { String(text.prefix { $0 == " " }) }

  private var isListItem: Bool {
    let text = text.trimmed
    let number = text.prefix { $0.isNumber }
    return text.hasPrefix("- ") || text.hasPrefix("* ")
      || (!number.isEmpty && text.dropFirst(number.count).hasPrefix(". "))
  }

  var continuationIndent: String { isListItem ? indent + "  " : indent }

  /// Whether this line continues the paragraph of the line before it.
  func continues(_ before: CommentLine) -> Bool {
    let text = text.trimmed
    guard head == before.head, !text.isEmpty, !isListItem else { return false }
    guard !text.hasPrefix("```"), !text.hasPrefix("|"), !text.hasPrefix("#"), !text.hasPrefix("MARK:") else {
      return false
    }
    return indent == before.continuationIndent
  }

  /// The line up to the last space within the width, and the rest; `nil` when there is no such space.
  func split(at width: Int) -> (String, String)? {
    let line = head + text
    let start = head.count + indent.count
    let characters = Array(line)
    guard let space = characters[..<(width + 1)].lastIndex(of: " "), space > start + (isListItem ? 2 : 0) else {
      return nil
    }
    let rest = String(characters[(space + 1)...]).trimmed
    // A word that would begin a list item or a heading stays where it is.
    guard !rest.hasPrefix("- "), !rest.hasPrefix("#"), !rest.isEmpty else { return nil }
    return (String(characters[..<space]).trimmedEnd, rest)
  }
}

extension String {
  fileprivate var trimmedEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
