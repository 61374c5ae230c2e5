/// Plain text searching, so that the rules read as sentences.
extension StringProtocol {
  /// The identifiers and keywords of a line, in order.
  var words: [String] {
    let parts: [SubSequence] = split { !($0.isLetter || $0.isNumber || $0 == "_") }
    return parts.map { String($0) }
  }

  /// Whether the line has this identifier, whole.
  func hasWord(_ word: String) -> Bool {
    contains(word) && words.contains(word)
  }

  /// The line without spaces at both ends.
  var trimmed: String {
    var rest = Substring(self)
    while rest.first?.isWhitespace == true { rest.removeFirst() }
    while rest.last?.isWhitespace == true { rest.removeLast() }
    return String(rest)
  }

  /// The text between the first `start` and the `end` that follows it.
  func between(_ start: String, _ end: String) -> String? {
    guard let from = rangeOf(start) else { return nil }
    let rest = self[from.upperBound...]
    guard let to = rest.rangeOf(end) else { return nil }
    return String(rest[..<to.lowerBound])
  }

  /// Where `text` first occurs.
  func rangeOf(_ text: String) -> Range<Index>? {
    firstRange(of: text)
  }
}
