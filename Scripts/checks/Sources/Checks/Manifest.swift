/// The parts of a `Package.swift` that the rules look at, read from its text.
///
/// Reading the text takes microseconds where `swift package dump-package` takes a third of a second. The price: a
/// manifest has to be a literal. Parts that the scanner does not find are reported as missing.
package struct Manifest {
  package struct Dependency {
    /// The path as written; `nil` for a package that does not lie in this repository.
    package let path: String?
    let line: Int
  }

  struct Target {
    /// `target`, `executableTarget`, `testTarget`, `systemLibrary`, ...
    let kind: String
    let name: String
    let line: Int
    /// The text of each argument, by label.
    let arguments: [String: String]

    /// The names in its dependencies: products of other packages and its own targets.
    var products: [String] {
      let text = arguments["dependencies"] ?? ""
      let parts = text.split(separator: "\"", omittingEmptySubsequences: false)
      return parts.indices.filter { $0 % 2 == 1 && !parts[$0 - 1].hasSuffix("package: ") }.map { String(parts[$0]) }
    }
  }

  let path: String
  package let folder: String
  let source: SourceText
  package let dependencies: [Dependency]
  let targets: [Target]
  /// The text of each argument of `Package(…)`, by label.
  let arguments: [String: String]

  package init(path: String, text: String) {
    self.path = path
    folder = path.split(separator: "/").dropLast().joined(separator: "/")
    source = SourceText(text)
    let scanner = CallScanner(source)
    let package = scanner.call("Package").map(scanner.arguments) ?? []
    arguments = Dictionary(package.map { ($0.label, scanner.text($0.value)) }, uniquingKeysWith: { first, _ in first })
    func calls(_ label: String) -> [CallScanner.Call] {
      package.first { $0.label == label }.map { scanner.calls(inList: $0.value) } ?? []
    }
    dependencies = calls("dependencies").map { call in
      let path = scanner.arguments(call.arguments).first { $0.label == "path" }.map { scanner.text($0.value) }
      return Dependency(path: path?.between("\"", "\""), line: scanner.line(call.start))
    }
    targets = calls("targets").map { call in
      let pairs = scanner.arguments(call.arguments).map { ($0.label, scanner.text($0.value)) }
      let arguments = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
      let name = arguments["name"]?.between("\"", "\"") ?? ""
      return Target(kind: call.name, name: name, line: scanner.line(call.start), arguments: arguments)
    }
  }

  /// The names of its products; of a manifest that lists none those of its targets.
  var products: Set<String> {
    guard let text = arguments["products"] else { return Set(targets.map(\.name)) }
    return Set(text.ranges(of: "(name: \"").map { String(text[$0.upperBound...].prefix { $0 != "\"" }) })
  }

  /// The folder of a target's sources, relative to the root of the repository.
  func sources(of target: Target) -> String {
    if let path = target.arguments["path"]?.between("\"", "\"") { return "\(folder)/\(path)" }
    return "\(folder)/\(target.kind == "testTarget" ? "Tests" : "Sources")/\(target.name)"
  }

  /// The lines of `let settings … ]` with the comment above them, and the line they start on.
  var settings: (text: String, line: Int)? {
    guard let start = source.lines.firstIndex(where: { $0.hasPrefix("let settings") }),
      let end = source.lines[start...].firstIndex(of: "]")
    else { return nil }
    let first = start > 0 && source.lines[start - 1].hasPrefix("//") ? start - 1 : start
    return (source.lines[first...end].joined(separator: "\n"), first + 1)
  }

  /// Whether a package of `Packages` has the comment `// A composition root: …`: it links products and plug-ins, as a
  /// program does.
  package var isRoot: Bool {
    folder.hasPrefix("Packages/") && folder != "Packages/Core"
      && source.comments.contains { $0.hasPrefix("// A composition root: ") }
  }

  /// The line of the first argument with this label, for messages.
  func line(of label: String) -> Int {
    (source.code.firstIndex { $0.contains(label + ":") } ?? 0) + 1
  }
}

/// Finds calls and their arguments in a literal manifest.
private struct CallScanner {
  typealias Span = Range<Int>

  struct Call {
    let name: String
    let start: Int
    let arguments: Span
  }

  struct Argument {
    let label: String
    let value: Span
  }

  private let code: [UInt8]
  private let full: [UInt8]

  init(_ source: SourceText) {
    code = Array(source.code.joined(separator: "\n").utf8)
    full = Array(source.codeAndStrings.joined(separator: "\n").utf8)
  }

  func text(_ span: Span) -> String { String(decoding: full[span], as: UTF8.self).trimmed }

  func line(_ position: Int) -> Int { code[..<position].count { $0 == UInt8(ascii: "\n") } + 1 }

  /// The arguments of the first call of `name`.
  func call(_ name: String) -> Span? {
    guard let found = code.firstRange(of: Array((name + "(").utf8)) else { return nil }
    return found.upperBound..<close(from: found.upperBound)
  }

  /// The position of the bracket that closes the group opened just before `start`.
  private func close(from start: Int) -> Int {
    var depth = 1
    for index in start..<code.count {
      if "([{".utf8.contains(code[index]) { depth += 1 }
      if ")]}".utf8.contains(code[index]) { depth -= 1 }
      if depth == 0 { return index }
    }
    return code.count
  }

  /// The parts of a span between the commas of its outermost level.
  private func parts(_ span: Span) -> [Span] {
    var result: [Span] = []
    var start = span.lowerBound
    var index = start
    while index < span.upperBound {
      if "([{".utf8.contains(code[index]) { index = close(from: index + 1) }
      if index < span.upperBound, code[index] == UInt8(ascii: ",") {
        result.append(start..<index)
        start = index + 1
      }
      index += 1
    }
    return (result + [start..<span.upperBound]).filter { !text($0).isEmpty }
  }

  func arguments(_ span: Span) -> [Argument] {
    parts(span).map { part in
      guard let colon = code[part].firstIndex(of: UInt8(ascii: ":")),
        let label = text(part.lowerBound..<colon).words.first, text(part.lowerBound..<colon) == label
      else { return Argument(label: "", value: part) }
      return Argument(label: label, value: colon + 1..<part.upperBound)
    }
  }

  /// The calls `.name(…)` that are the elements of a list.
  func calls(inList span: Span) -> [Call] {
    guard let open = code[span].firstIndex(of: UInt8(ascii: "[")) else { return [] }
    return parts(open + 1..<close(from: open + 1)).compactMap { part in
      guard let dot = code[part].firstIndex(of: UInt8(ascii: ".")),
        let parenthesis = code[dot..<part.upperBound].firstIndex(of: UInt8(ascii: "("))
      else { return nil }
      let name = text(dot + 1..<parenthesis)
      return Call(name: name, start: dot, arguments: parenthesis + 1..<close(from: parenthesis + 1))
    }
  }
}
