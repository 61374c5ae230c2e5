/// Requirements of public protocols and cases of public enums are documented; swift-format sees to everything else.
@Sendable func publicNamesAreDocumented(_ house: House) -> [Violation] {
  house.files.filter { $0.isSource && $0.isHouse }.flatMap { file in
    file.source.undocumentedMembers.map {
      Violation(file.path, $0, "docs", "write a doc comment (///) above this line: it is part of a public type")
    }
  }
}

extension SourceText {
  private static let requirements: Set = ["func", "var", "init", "subscript", "associatedtype"]

  /// The lines of protocol requirements and enum cases of public types that have no doc comment.
  fileprivate var undocumentedMembers: [Int] {
    var blocks: [Block] = []
    var head = ""
    var found: [Int] = []
    for (index, line) in code.enumerated() {
      if let block = blocks.last, block != .other, isMember(line, of: block), !isDocumented(index) {
        found.append(index + 1)
      }
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
