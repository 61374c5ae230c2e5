import VestaPatterns

extension Pattern {
  /// All matches in a text; nil where the work for finding them is used up.
  ///
  /// A step takes about as long as a unit of work. Most expressions take three steps for a character and two for a
  /// match. One that takes more than a bound is tried again with twice as many, so that all that it takes is paid for.
  private func found(in text: String, _ work: inout WorkMeter) -> [Range<Int>]? {
    let size = text.unicodeScalars.count
    let first = 64 + 6 * size
    var steps = first
    while true {
      if let matches = matches(in: text, maximumSteps: min(steps, work.left)) {
        return work.take(steps == first ? 3 * size + 2 * matches.count : steps / 2) ? matches : nil
      }
      guard work.take(steps) else { return nil }
      steps *= 2
    }
  }

  /// `split`: the parts between the matches, without empty ones at the end; of nothing but empty ones one remains.
  func parts(of text: String, _ work: inout WorkMeter) -> [String]? {
    guard let matches = found(in: text, &work), work.take(matches.count) else { return nil }
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
    guard let matches = found(in: text, &work),
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
