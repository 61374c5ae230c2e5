/// Comments have the plain form: of 1,000 comment lines of a package at most 15 have one of the turns that a reader has
/// to read twice.
@Sendable func commentsArePlain(_ house: House) -> [Violation] {
  house.packages.filter(\.hasPapers).compactMap { package in
    let files = house.files.filter { $0.isSource && $0.package.folder == package.folder }
    return violation(in: files.flatMap(\.commentLines), of: "comment lines", atMost: 15)
  }
}

/// Markdown texts have the plain form: of 1,000 lines of a package at most 15 have a turn.
///
/// Code blocks and words in backticks are not read. A changelog is about the past and stays as it is. Texts that belong
/// to no package are counted together.
@Sendable func textsArePlain(_ house: House) -> [Violation] {
  // The deepest package first, as a consumer's folder may be within another package's.
  let folders = house.packages.map(\.folder).sorted { $0.utf8.count > $1.utf8.count }
  let paths = house.tree.paths(ending: ".md").filter { !$0.hasSuffix("CHANGELOG.md") }
  let groups = Dictionary(grouping: paths) { path in folders.first { path.hasPrefix($0 + "/") } ?? "" }
  return groups.values.compactMap { paths in
    let lines = paths.flatMap { path in
      Paper(path: path, text: house.tree.files[path] ?? "").words.map { Line(path: path, number: $0, text: $1) }
    }
    return violation(in: lines, of: "lines of the texts", atMost: 15)
  }
}

/// Tests and scripts have the plain form: of 1,000 comment lines of a package at most 30 have a turn, and of 1,000 names
/// of its tests at most 30.
@Sendable func testsArePlain(_ house: House) -> [Violation] {
  house.packages.flatMap { package -> [Violation] in
    let files = house.files.filter { $0.package.folder == package.folder && !($0.isSource && package.hasPapers) }
    return [
      violation(in: files.flatMap(\.commentLines), of: "comment lines of the tests", atMost: 30),
      violation(in: files.flatMap(\.names), of: "names of tests", atMost: 30),
    ].compactMap(\.self)
  }
}

/// A line of prose, and where it is.
private struct Line {
  let path: String
  let number: Int
  let text: String
}

/// The violation at the first turn of some lines, when more of them have one than the share of 1,000 lines allows.
///
/// One turn is always allowed: a few lines have no share.
private func violation(in lines: [Line], of kind: String, atMost share: Int) -> Violation? {
  let turns = lines.compactMap { line in line.text.turn.map { (line: line, turn: $0) } }
  guard let first = turns.first?.line, turns.count > max(1, share * lines.count / 1_000) else { return nil }
  let examples = turns.prefix(5).map { "\($0.line.path):\($0.line.number) \"\($0.turn)\"" }.joined(separator: ", ")
  return Violation(
    first.path, first.number, "turns",
    "\(turns.count) of \(lines.count) \(kind) have a turn in place of the plain form, and \(share) of 1,000 are "
      + "allowed: \(examples)")
}

/// Turns, and pairs of words that are turns; CONTRIBUTING.md has the plain forms.
private let turns: Set = [
  "nobody", "somebody", "anybody", "whoever", "everybody", "beside", "besides", "hear", "hears", "heard", "come",
  "comes", "came", "gone", "goes", "meanwhile", "any more", "go on", "those that", "those who", "those which",
  "those of", "of its own", "of their own", "of his own", "so many",
]

/// The first words of the turns.
private let firstWords = Set(turns.compactMap(\.words.first) + ["what"])

extension House.File {
  /// The lines that are comments and nothing else.
  fileprivate var commentLines: [Line] {
    source.comments.indices.compactMap { index in
      let text = source.comments[index].trimmed
      guard text.hasPrefix("//"), source.code[index].trimmed.isEmpty, text.contains(where: { $0 != "/" }) else {
        return nil
      }
      return Line(path: path, number: index + 1, text: text)
    }
  }

  /// The names that are sentences, in backticks.
  fileprivate var names: [Line] {
    source.code.enumerated().flatMap { index, line in
      guard line.utf8.contains(UInt8(ascii: "`")) else { return [Line]() }
      let parts = line.split(separator: "`", omittingEmptySubsequences: false)
      return parts.indices.filter { $0 % 2 == 1 && parts[$0].contains(" ") }.map {
        Line(path: path, number: index + 1, text: String(parts[$0]))
      }
    }
  }
}

extension String {
  /// The first turn of a line; a clause with "what" as its subject is one.
  fileprivate var turn: String? {
    let words = lowercased().words
    for (index, word) in words.enumerated() where firstWords.contains(word) {
      let rest = words[index...]
      let candidates = [1, 2, 3].map { rest.prefix($0).joined(separator: " ") }
      if let turn = candidates.first(where: turns.contains) { return turn }
      if word == "what", [". What ", ": What ", "; What "].contains(where: hasASCII) || beginsWithWhat {
        return "What"
      }
    }
    return nil
  }

  /// Whether the first word after the signs of a comment, a list or a table is "What".
  private var beginsWithWhat: Bool { drop { "/-*|> ".contains($0) }.hasPrefix("What ") }
}
