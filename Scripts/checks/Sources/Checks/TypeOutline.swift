/// The declarations of a file that are not nested: its types and aliases, and how many members each block has.
struct TypeOutline {
  /// A type, an extension or an alias, with the members that this file gives it.
  struct Block {
    /// `struct`, `extension`, `typealias` and so on.
    let kind: String
    /// The name; an extension of a nested type has its path.
    let name: String
    let line: Int
    let isPublic: Bool
    /// Whether other files may use the name.
    let isPrivate: Bool
    /// Members that are public, and those that are not; named constants and cases are none.
    var publicMembers = 0
    var otherMembers = 0
  }

  private(set) var blocks: [Block] = []

  init(_ source: SourceText) {
    var depth = 0
    for (index, line) in source.code.enumerated() {
      if depth == 0, let block = Self.block(line, index + 1) {
        blocks.append(block)
      } else if depth == 1, !blocks.isEmpty, let isPublic = Self.member(line, of: blocks[blocks.count - 1]) {
        if isPublic {
          blocks[blocks.count - 1].publicMembers += 1
        } else {
          blocks[blocks.count - 1].otherMembers += 1
        }
      }
      for byte in line.utf8 where byte == UInt8(ascii: "{") || byte == UInt8(ascii: "}") {
        depth += byte == UInt8(ascii: "{") ? 1 : -1
      }
    }
  }

  private static let kinds: Set = ["struct", "class", "enum", "protocol", "actor", "extension", "typealias"]
  private static let members: Set = ["func", "init", "var", "let", "subscript"]
  private static let modifiers: Set = [
    "public", "package", "internal", "private", "fileprivate", "open", "static", "class", "final", "override",
    "mutating", "nonmutating", "nonisolated", "indirect", "lazy", "weak", "required", "convenience", "isolated",
    "borrowing", "consuming", "unowned", "prefix", "postfix", "infix", "set", "unsafe", "distributed",
  ]

  private static func block(_ line: String, _ number: Int) -> Block? {
    guard let head = head(of: line, endingWith: kinds), let name = head.rest.words.first else { return nil }
    let path = head.rest.trimmed.prefix { $0.isLetter || $0.isNumber || "_.".contains($0) }
    return Block(
      kind: head.keyword, name: head.keyword == "extension" ? String(path) : name, line: number,
      isPublic: head.modifiers.contains("public") || head.modifiers.contains("open"),
      isPrivate: head.modifiers.contains("private") || head.modifiers.contains("fileprivate"))
  }

  /// Whether a line declares a public member; `nil` if it declares none.
  private static func member(_ line: String, of block: Block) -> Bool? {
    guard block.kind != "typealias", let head = head(of: line, endingWith: members) else { return nil }
    // A list of codes or names may be long: it is read like a table.
    if head.keyword == "let", head.modifiers.contains("static") { return nil }
    let isPublic = head.modifiers.contains("public") || head.modifiers.contains("open")
    return isPublic || block.kind == "extension" && block.isPublic && !head.modifiers.contains("private")
  }

  /// The modifiers and the keyword that a line begins with, and the text after them.
  private static func head(
    of line: String, endingWith keywords: Set<String>
  ) -> (modifiers: [String], keyword: String, rest: Substring)? {
    var rest = line[...]
    var modifiers: [String] = []
    while true {
      rest = rest.drop { $0 == " " || $0 == "(" || $0 == ")" }
      if rest.first == "@" {
        rest = rest.dropFirst().drop { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        if rest.first == "(" { rest = rest.drop { $0 != ")" } }
        continue
      }
      let word = String(rest.prefix { $0.isLetter })
      guard !word.isEmpty else { return nil }
      rest = rest.dropFirst(word.count)
      // `class func` has two of them; the kind is the last one.
      let isKind = keywords.contains(word) && !(word == "class" && Self.members.contains(rest.words.first ?? ""))
      if isKind { return (modifiers, word, rest) }
      guard Self.modifiers.contains(word) else { return nil }
      modifiers.append(word)
    }
  }
}
