/// No asynchronous throwing function ends with a call of something that is isolated to an actor.
///
/// With the compiler of Swift 6.3 such a call does not return to the caller's executor when it throws: the caller's
/// `catch` runs on the actor. A `do` with a `catch` that throws on, or a helper that has one, brings it back.
@Sendable func failuresReturnToTheirCaller(_ house: House) -> [Violation] {
  let files = house.files.filter { $0.isSource && $0.isHouse }
  // A name that has a declaration without isolation as well is left alone: names alone do not say which one is called.
  let isolated = Dictionary(grouping: files) { module(of: $0.path) }.mapValues { files in
    Set(files.flatMap { $0.source.functionNames(isolated: true) })
      .subtracting(files.flatMap { $0.source.functionNames(isolated: false) })
  }
  return files.flatMap { file in
    file.source.tailCalls.filter { isolated[module(of: file.path)]?.contains($0.name) == true }.map {
      Violation(
        file.path, $0.line, "executor",
        """
        do not end with `try await \($0.name)`, which is isolated to an actor: when it throws, the caller's `catch` runs \
        on that actor; write `do { return try await \($0.name)(…) } catch { throw error }`, or use the helper that does
        """)
    }
  }
}

/// The folder of a module: "Packages/Auth/Sources/VestaAuth".
private func module(of path: String) -> String {
  let parts = path.split(separator: "/")
  guard let sources = parts.firstIndex(of: "Sources"), sources + 1 < parts.count else { return path }
  return parts[...(sources + 1)].joined(separator: "/")
}

extension SourceText {
  /// The names of functions that an attribute such as `@AuthActor`, or an enclosing actor, isolates; or of all others.
  fileprivate func functionNames(isolated: Bool) -> [String] {
    functions.filter { $0.isIsolated == isolated }.compactMap(\.name)
  }

  /// The calls with which functions end that are async, throw, and are isolated to nothing.
  fileprivate var tailCalls: [(name: String, line: Int)] {
    functions.filter { !$0.isIsolated && !$0.isConcurrent && $0.throwsAsync }.flatMap { function in
      let last = function.statements.last { $0.isDirect }
      return function.statements.filter { $0.text.hasPrefix("return ") || $0.line == last?.line }
        .compactMap { tail in Self.calledName(tail.text).map { ($0, tail.line) } }
    }
  }

  /// The function that a statement such as `return try await owner.lookUp(…)` calls.
  private static func calledName(_ statement: String) -> String? {
    var text = statement.trimmed
    if text.hasPrefix("return ") { text = String(text.dropFirst(7)).trimmed }
    guard text.hasPrefix("try await ") else { return nil }
    let callee = text.dropFirst(10).prefix { $0.isLetter || $0.isNumber || "._?".contains($0) }
    return callee.split(separator: ".").last.map { $0.filter { $0 != "?" } }
  }

  private struct Function {
    var name: String?
    var isIsolated: Bool
    var isConcurrent: Bool
    var throwsAsync: Bool
    /// The beginnings of statements; those in branches are not direct.
    var statements: [(text: String, line: Int, isDirect: Bool)] = []
  }

  /// A pair of braces that is open while the file is read.
  private struct Block {
    /// The function whose statements these are; `nil` within a closure or a `do`.
    var function: Int?
    var isBranch = false
    var isActor: Bool
    /// How many parentheses and brackets are open within it.
    var depth = 0
  }

  /// The functions of the file with the beginnings of the statements directly in their bodies.
  private var functions: [Function] {
    var found: [Function] = []
    var blocks: [Block] = []
    var head = ""
    for (index, line) in code.enumerated() {
      var startsStatement = true
      for (offset, character) in line.enumerated() {
        if startsStatement, character == " " { continue }
        if startsStatement, !"}).,?:".contains(character), let block = blocks.last, block.depth == 0,
          let function = block.function
        {
          found[function].statements.append((String(line.dropFirst(offset)), index + 1, !block.isBranch))
        }
        startsStatement = false
        switch character {
        case "{":
          let block = Self.block(head, within: blocks, &found)
          blocks.append(block)
          head = ""
          startsStatement = true
        case "}":
          _ = blocks.popLast()
          head = ""
        case "(", "[":
          if !blocks.isEmpty { blocks[blocks.count - 1].depth += 1 }
          head.append(character)
        case ")", "]":
          if !blocks.isEmpty { blocks[blocks.count - 1].depth -= 1 }
          head.append(character)
        case ";": head = ""
        default: head.append(character)
        }
      }
      head.append(" ")
    }
    return found
  }

  private static func block(_ head: String, within blocks: [Block], _ found: inout [Function]) -> Block {
    let words = head.words
    let isInActor = blocks.contains { $0.isActor }
    if let first = words.first, ["if", "else", "guard", "switch"].contains(first), let block = blocks.last {
      return Block(function: block.function, isBranch: true, isActor: false)
    }
    guard let keyword = words.lastIndex(of: "func") else {
      return Block(function: nil, isActor: words.contains("actor") && !words.contains("class"))
    }
    // A declaration without braces may precede this one, with its own attributes.
    let own = head.split(separator: " ").map(String.init)
    let start = own.lastIndex { ["var", "let", "case", "import", "typealias"].contains($0) } ?? 0
    // Attributes after the keyword belong to parameters.
    let end = own.lastIndex { $0 == "func" } ?? own.endIndex
    let attributes = own[min(start, end)..<end]
    let isMarked = attributes.contains { $0.hasPrefix("@") && $0.hasSuffix("Actor") }
    let isOpen = words.contains("nonisolated") || words.contains("static")
    let name = words.indices.contains(keyword + 1) ? words[keyword + 1] : nil
    found.append(
      Function(
        name: name, isIsolated: isMarked || (isInActor && !isOpen), isConcurrent: attributes.contains("@concurrent"),
        throwsAsync: words.contains("async") && words.contains("throws")))
    return Block(function: found.count - 1, isActor: false)
  }
}
