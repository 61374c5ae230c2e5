/// Interop packages do without the full Foundation where FoundationEssentials exists; VestaConcurrency and VestaBytes
/// do without any.
@Sendable func foundationStaysOut(_ house: House) -> [Violation] {
  let floor = ["VestaConcurrency", "VestaBytes"].map { "Packages/Core/Sources/\($0)/" }
  let none = house.files.filter { file in floor.contains { file.path.hasPrefix($0) } }.flatMap { file in
    file.source.imports.filter { $0.module.hasPrefix("Foundation") }.map {
      Violation(file.path, $0.line, "foundation", "do without \($0.module): the ground floor uses no Foundation")
    }
  }
  // Code that spawns processes for tests needs the full Foundation.
  let restricted = house.files.filter {
    $0.isSource && $0.package.room == .interop && $0.module?.hasSuffix("Testing") != true
  }
  return none
    + restricted.flatMap { file in
      file.source.imports.filter { line in
        line.module.hasPrefix("Foundation") && line.module != "FoundationEssentials"
          && line.conditions.last != "else of canImport(FoundationEssentials)"
      }.map {
        let message = "import \($0.module) only in the #else of `#if canImport(FoundationEssentials)`"
        return Violation(file.path, $0.line, "foundation", message)
      }
    }
}

/// `Locked` is the lock of the house: Thread Sanitizer does not understand the standard library's `Mutex`.
@Sendable func mutexStaysOut(_ house: House) -> [Violation] {
  house.files.filter { file in
    file.isHouse && file.source.imports.contains { $0.module == "Synchronization" }
  }.flatMap { file in
    file.source.code.enumerated().filter { $0.element.hasWord("Mutex") }.map {
      Violation(file.path, $0.offset + 1, "mutex", "use Locked of VestaConcurrency instead of Mutex")
    }
  }
}

/// Words that switch a check of the compiler off need a reason, and none of them is on a public type.
@Sendable func unsafeWordsHaveReasons(_ house: House) -> [Violation] {
  var found: [Violation] = []
  let publicTypes = Dictionary(grouping: house.files.filter(\.isSource), by: \.package.folder)
    .mapValues { Set($0.flatMap { $0.source.publicTypes }) }
  for file in house.files {
    for (index, line) in file.source.code.enumerated() {
      for word in ["@unchecked", "nonisolated(unsafe)", "unsafeBitCast", "unsafeDowncast"] where line.contains(word) {
        func broken(_ message: String) { found.append(Violation(file.path, index + 1, "unsafe", message)) }
        if !file.source.hasReason(at: index) {
          broken("say on this line or right above it, in a // comment, why \(word) is sound")
        }
        guard file.isSource, word == "@unchecked" || word == "nonisolated(unsafe)" else { continue }
        let known = publicTypes[file.package.folder] ?? []
        let isUpstreams = file.source.isUpstreamHierarchy(declarationAt: index)
        if !isUpstreams, file.source.isPublic(declarationAt: index, containing: word, publicTypes: known) {
          broken("keep \(word) off public declarations: wrap an internal class that holds the state")
        }
      }
    }
  }
  return found
}

/// Shipped code does not trap on what it can report; `fatalError` needs a reason, such as misuse that has no other
/// answer.
@Sendable func nothingTraps(_ house: House) -> [Violation] {
  house.files.filter { $0.isSource && $0.isHouse }.flatMap { file in
    file.source.code.enumerated().compactMap { index, line -> Violation? in
      func broken(_ message: String) -> Violation { Violation(file.path, index + 1, "traps", message) }
      if line.contains("try!") { return broken("handle the error instead of `try!`") }
      guard line.contains("fatalError("), !file.source.hasReason(at: index) else { return nil }
      return broken("throw an error instead of `fatalError(`, or say above, in a // comment, why nothing else will do")
    }
  }
}

/// Clients, engines and plug-ins wait on a clock that tests can advance, never on the system's.
///
/// Clocks begin in Core and in the seams; that of a plug-in, which has no `ServiceClock`, is in its tuning, which tests
/// replace. Modules for tests may wait for a machine that is slow. Core has three bounds of the system that no clock
/// of a test could drive, because a thread is blocked: a lock within a time (`VestaConcurrency/Platform.swift`), the
/// lock of a file that another process has (`VestaFiles/Platform.swift`), and how long an idle thread is kept
/// (`BlockingPool`). `poll`, for the sockets of PostgreSQL, ends when something happens; its bound is the interval at
/// which the clock of the tuning is looked at.
@Sendable func waitsHaveAClock(_ house: House) -> [Violation] {
  let sources = house.files.filter { $0.isSource && $0.package.room == .product }
  let products = Set(sources.compactMap { $0.module?.hasSuffix("Service") == true ? $0.package.folder : nil })
  let files = sources.filter { file in
    let isTuning = file.path.hasSuffix("Tuning.swift") && !products.contains(file.package.folder)
    return !isTuning && file.module?.hasSuffix("Testing") == false
  }
  return files.flatMap { file -> [Violation] in
    guard let text = house.tree.files[file.path], bareWaits.contains(where: { text.hasASCII($0) }) else { return [] }
    let lines = file.source.code.enumerated().filter { line in bareWaits.contains { line.element.contains($0) } }
    let message = """
      wait with a ServiceClock (`clock.sleep(for:)`, ServiceTimers), or with the clock in a store's tuning: tests cannot \
      advance the system's
      """
    return lines.map { Violation(file.path, $0.offset + 1, "sleep", message) }
  }
}

/// Paths and names that others send are divided by bytes.
///
/// `split` compares characters of the user, so that a combining mark at the start of a name hides the slash before it.
/// Modules for tests divide the names of tests.
@Sendable func pathsAreDividedByBytes(_ house: House) -> [Violation] {
  let files = house.files.filter { file in
    let isForTests = ["Testing", "Contracts", "Fakes"].contains { file.module?.hasSuffix($0) == true }
    return file.isSource && file.isHouse && !isForTests
  }
  return files.flatMap { file in
    file.source.codeAndStrings.enumerated().compactMap { index, line in
      guard line.contains(#".split(separator: "/""#) else { return nil }
      return Violation(file.path, index + 1, "split", "divide the text by bytes: `parts(at: \"/\")` of VestaBytes")
    }
  }
}

/// The waits of the standard library, of Dispatch, of Foundation and of the system.
private let bareWaits = [
  "Task.sleep(", "ContinuousClock().sleep(", "SuspendingClock().sleep(", ".asyncAfter(", "usleep(", "nanosleep(",
  "Thread.sleep(", ".wait(timeout:",
]

extension SourceText {
  /// The names of types that a file declares public.
  fileprivate var publicTypes: [String] {
    code.compactMap { line in
      let words = line.words
      guard words.contains("public") || words.contains("open"),
        let kind = words.firstIndex(where: { ["class", "struct", "enum", "actor"].contains($0) }),
        kind + 1 < words.count
      else { return nil }
      return words[kind + 1]
    }
  }

  /// Whether a plain comment is on the line, or right above it (attributes and doc comments may lie between).
  fileprivate func hasReason(at index: Int) -> Bool {
    func plainComment(_ line: Int) -> Bool {
      let text = comments[line].trimmed
      return (text.hasPrefix("//") && !text.hasPrefix("///")) || text.hasPrefix("/* ")
    }
    if plainComment(index) { return true }
    for line in stride(from: index - 1, through: 0, by: -1) {
      if plainComment(line) { return true }
      let isAttribute = code[line].trimmed.hasPrefix("@")
      let isDoc = comments[line].trimmed.hasPrefix("///")
      guard isAttribute || isDoc else { return false }
    }
    return false
  }

  /// Whether a class has to have an unchecked conformance although it is public.
  ///
  /// All its stored properties are `let`, and its reason says why: "class hierarchy of the Firebase SDK" or "has a
  /// subclass", as no checked conformance allows subclasses; "restates NSError's", as a subclass of `NSError` has to.
  fileprivate func isUpstreamHierarchy(declarationAt index: Int) -> Bool {
    var above: [String] = [comments[index]]
    for line in stride(from: index - 1, through: 0, by: -1) {
      guard code[line].trimmed.isEmpty, !comments[line].trimmed.isEmpty else { break }
      above.append(comments[line])
    }
    let phrases = ["class hierarchy of the Firebase SDK", "has a subclass", "restates NSError's"]
    guard phrases.contains(where: above.joined(separator: " ").contains) else { return false }
    var depth = 0
    for line in index..<code.count {
      if depth == 1, code[line].words.contains("var"), !code[line].contains("{") { return false }
      if depth == 1, code[line].words.contains("lazy") { return false }
      depth += code[line].count { $0 == "{" } - code[line].count { $0 == "}" }
      if depth == 0, line > index || code[line].contains("}") { break }
    }
    return true
  }

  /// Whether the declaration around `word` is public, or extends a type that is.
  fileprivate func isPublic(declarationAt index: Int, containing word: String, publicTypes: Set<String>) -> Bool {
    guard let range = code[index].rangeOf(word) else { return false }
    var head = String(code[index][..<range.lowerBound])
    var line = index
    while !head.contains(where: { "{};".contains($0) }), line > 0, !code[line - 1].trimmed.isEmpty {
      line -= 1
      head = code[line] + " " + head
    }
    let start = head.lastIndex { "{};".contains($0) }.map(head.index(after:)) ?? head.startIndex
    let words = String(head[start...]).words
    if word != "@unchecked" { return words.suffix(4).contains("public") || words.suffix(4).contains("open") }
    if let extended = words.lastIndex(of: "extension"), extended + 1 < words.count {
      return publicTypes.contains(words[extended + 1])
    }
    guard let kind = words.lastIndex(where: { ["class", "struct", "enum", "actor"].contains($0) }) else { return false }
    return words[..<kind].suffix(4).contains { $0 == "public" || $0 == "open" }
  }
}
