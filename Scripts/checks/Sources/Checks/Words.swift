/// Plain text searching, so that the rules read as sentences.
extension StringProtocol {
  /// The identifiers and keywords of a line, in order.
  var words: [String] {
    // Bytes and not characters: whole files are read so. A byte that is not ASCII counts as a letter.
    utf8.split { !($0 | 32 &- 97 < 26 || $0 &- 48 < 10 || $0 == UInt8(ascii: "_") || $0 > 127) }
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the line has this identifier, whole.
  func hasWord(_ word: String) -> Bool {
    hasASCII(word) && words.contains(word)
  }

  /// The line without spaces at both ends.
  var trimmed: String {
    let isSpace = { (byte: UInt8) in byte == 32 || byte &- 9 < 5 }
    let rest = Array(utf8.drop(while: isSpace))
    let count = (rest.lastIndex { !isSpace($0) } ?? -1) + 1
    return String(decoding: rest[..<count], as: UTF8.self)
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

extension StringProtocol {
  /// Whether the text contains an ASCII string; compares bytes, because whole files are searched.
  func hasASCII(_ needle: String) -> Bool {
    let wanted = Array(needle.utf8)
    var text = String(self)
    return text.withUTF8 { bytes in
      var start = 0
      while start + wanted.count <= bytes.count {
        if bytes[start] == wanted[0], bytes[start..<(start + wanted.count)].elementsEqual(wanted) { return true }
        start += 1
      }
      return false
    }
  }
}
