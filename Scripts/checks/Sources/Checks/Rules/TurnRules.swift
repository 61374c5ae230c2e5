/// Comments have the plain form: of 1,000 comment lines of a package at most 15 have one of the turns that a reader has
/// to read twice.
@Sendable func commentsArePlain(_ house: House) -> [Violation] {
  house.packages.filter { $0.room != .other || $0.isRoot }.compactMap { package -> Violation? in
    let files = house.files.filter { $0.isSource && $0.package.folder == package.folder }
    let lines = files.flatMap { file in file.source.commentLines.map { (path: file.path, line: $0) } }
    let turns = lines.compactMap { line in line.line.text.turn.map { (line.path, line.line.number, $0) } }
    // A few lines have no share.
    guard lines.count > 100, 1_000 * turns.count > 15 * lines.count else { return nil }
    let first = turns.prefix(5).map { "\($0):\($1) \"\($2)\"" }.joined(separator: ", ")
    let share = 1_000 * turns.count / lines.count
    return Violation(
      package.manifest.path, 1, "turns",
      "\(share) of 1,000 comment lines have a turn in place of the plain form, and 15 are allowed: \(first)")
  }
}

/// Turns, and pairs of words that are turns; CONTRIBUTING.md has the plain forms.
private let turns: Set = [
  "nobody", "somebody", "anybody", "whoever", "everybody", "beside", "besides", "hear", "hears", "heard", "comes",
  "came", "gone", "goes", "meanwhile", "any more", "go on", "has come", "have come", "had come", "those that",
  "those who", "those which", "those of", "of its own", "of their own", "of his own", "so many",
]

/// The first words of the turns.
private let firstWords = Set(turns.compactMap(\.words.first) + ["what"])

extension SourceText {
  /// The lines that are comments and nothing else, with their numbers.
  fileprivate var commentLines: [(number: Int, text: String)] {
    comments.indices.compactMap { index in
      let text = comments[index].trimmed
      guard text.hasPrefix("//"), code[index].trimmed.isEmpty, text.contains(where: { $0 != "/" }) else { return nil }
      return (index + 1, text)
    }
  }
}

extension String {
  /// The first turn of a comment; a clause with "what" as its subject is one.
  fileprivate var turn: String? {
    let words = lowercased().words
    for (index, word) in words.enumerated() where firstWords.contains(word) {
      let rest = words[index...]
      let candidates = [1, 2, 3].map { rest.prefix($0).joined(separator: " ") }
      if let turn = candidates.first(where: turns.contains) { return turn }
      if word == "what", [". What ", ": What ", "; What "].contains(where: hasASCII) { return "What" }
    }
    return nil
  }
}
