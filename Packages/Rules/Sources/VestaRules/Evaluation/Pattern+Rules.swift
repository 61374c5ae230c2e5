import VestaPatterns

extension Pattern {
  /// The bound on the time of finding all matches in a text.
  private static let steps = 1 << 20

  /// `split`: the parts between the matches, without empty ones at the end; of nothing but empty ones one remains.
  func parts(of text: String) -> [String]? {
    guard let matches = matches(in: text, maximumSteps: Pattern.steps) else { return nil }
    var parts: [String] = []
    var pieces = ScalarPieces(text)
    for match in matches {
      parts.append(String(pieces.next(to: match.lowerBound)))
      _ = pieces.next(to: match.upperBound)
    }
    parts.append(String(pieces.rest))
    while parts.count > 1, parts.last?.isEmpty ?? false { parts.removeLast() }
    return parts
  }

  /// `replace`: the text with the replacement, which is taken as it is, in place of every match.
  func replacing(in text: String, with replacement: String, _ work: inout WorkMeter) -> String? {
    guard let matches = matches(in: text, maximumSteps: Pattern.steps),
      work.take(matches.count * (1 + replacement.utf8.count >> 4))
    else { return nil }
    var result = ""
    var pieces = ScalarPieces(text)
    for match in matches {
      result += pieces.next(to: match.lowerBound)
      result += replacement
      _ = pieces.next(to: match.upperBound)
    }
    return result + pieces.rest
  }
}

/// Cuts a text at numbers of scalars that only grow.
private struct ScalarPieces {
  private let text: String
  private var index: String.Index
  private var position = 0

  init(_ text: String) {
    self.text = text
    index = text.startIndex
  }

  /// The piece up to a scalar.
  mutating func next(to end: Int) -> Substring {
    let start = index
    index = text.unicodeScalars.index(index, offsetBy: end - position)
    position = end
    return text[start..<index]
  }

  var rest: Substring { text[index...] }
}
