/// Requirements of public protocols and cases of public enums are documented; swift-format sees to everything else.
@Sendable func publicNamesAreDocumented(_ house: House) -> [Violation] {
  house.files.filter { $0.isSource && $0.isHouse }.flatMap { file in
    file.source.undocumentedMembers.map {
      Violation(file.path, $0, "docs", "write a doc comment (///) above this line: it is part of a public type")
    }
  }
}

/// The summary of a public name is a noun phrase or begins with a verb; a relative clause says neither.
@Sendable func summariesNameTheThing(_ house: House) -> [Violation] {
  house.files.filter { $0.isSource && $0.isHouse }.flatMap { file in
    file.source.clausesAsSummaries.map { index, word in
      let message = "begin the summary with a noun of the domain or a verb, not with \"\(word)\""
      return Violation(file.path, index, "words", message)
    }
  }
}

extension SourceText {
  private static let requirements: Set = ["func", "var", "init", "subscript", "associatedtype"]

  /// The lines of protocol requirements and enum cases of public types that have no doc comment.
  fileprivate var undocumentedMembers: [Int] {
    publicMembers.filter { !isDocumented($0) }.map { $0 + 1 }
  }

  /// The lines of summaries of public names that begin with a relative clause, and its first word.
  fileprivate var clausesAsSummaries: [(line: Int, word: String)] {
    let members = Set(publicMembers)
    return comments.indices.compactMap { index in
      let text = comments[index].trimmed
      guard text.hasPrefix("/// "), let word = text.words.first,
        ["What", "Who", "Whom", "Whose", "Those"].contains(word),
        index == 0 || !comments[index - 1].trimmed.hasPrefix("///"),
        let name = code[index...].firstIndex(where: { !$0.trimmed.isEmpty && !$0.trimmed.hasPrefix("@") })
      else { return nil }
      let head = code[name].prefix { $0 != "{" && $0 != "=" }
      guard members.contains(name) || head.hasWord("public") || head.hasWord("open") else { return nil }
      return (index + 1, word)
    }
  }

  /// The lines, counted from 0, of protocol requirements and enum cases of public types.
  private var publicMembers: [Int] {
    var blocks: [Block] = []
    var head = ""
    var found: [Int] = []
    for (index, line) in code.enumerated() {
      if let block = blocks.last, block != .other, isMember(line, of: block) { found.append(index) }
      for character in line {
        switch character {
        case "{":
          blocks.append(Block(head: head))
          head = ""
        case "}":
          _ = blocks.popLast()
          head = ""
        case ";": head = ""
        default: head.append(character)
        }
      }
      head.append(" ")
    }
    return found
  }

  /// The innermost braces around a line.
  private enum Block {
    case publicProtocol, publicEnum, other

    init(head: String) {
      let words = head.words
      guard let kind = words.lastIndex(where: { $0 == "protocol" || $0 == "enum" }),
        words[..<kind].last(where: { $0 != "indirect" }) == "public", !head.contains("=")
      else {
        self = .other
        return
      }
      self = words[kind] == "protocol" ? .publicProtocol : .publicEnum
    }
  }

  private func isMember(_ line: String, of block: Block) -> Bool {
    var words = line.words[...]
    if line.trimmed.hasPrefix("@") { words = words.dropFirst() }
    while let first = words.first, ["static", "mutating", "nonisolated", "indirect"].contains(first) {
      words = words.dropFirst()
    }
    guard let first = words.first else { return false }
    return block == .publicEnum ? first == "case" : Self.requirements.contains(first)
  }

  private func isDocumented(_ index: Int) -> Bool {
    for line in stride(from: index - 1, through: 0, by: -1) {
      if comments[line].trimmed.hasPrefix("///") || comments[line].trimmed.hasSuffix("*/") { return true }
      let isPlainComment = code[line].trimmed.isEmpty && comments[line].trimmed.hasPrefix("//")
      guard code[line].trimmed.hasPrefix("@") || isPlainComment else { return false }
    }
    return false
  }
}
