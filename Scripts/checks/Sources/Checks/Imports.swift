/// One `import` line of a file.
struct Import: Equatable {
  let module: String
  /// The imported member of the module, as in `import struct Synchronization.Mutex`.
  let member: String?
  let line: Int
  /// The `#if` branches around the line, outermost first, such as `else of canImport(FoundationEssentials)`.
  let conditions: [String]
}

extension SourceText {
  private static let kinds: Set = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor"]

  /// The imports in lines of code with their conditions.
  static func imports(in code: [String]) -> [Import] {
    var conditions: [String] = []
    var found: [Import] = []
    for (index, line) in code.enumerated() where line.hasASCII("#") || line.hasASCII("import") {
      let text = line.trimmed
      if text.hasPrefix("#if") {
        conditions.append(text.dropFirst(3).trimmed)
      } else if text.hasPrefix("#elseif"), !conditions.isEmpty {
        conditions[conditions.count - 1] = text.dropFirst(7).trimmed
      } else if text.hasPrefix("#else"), let last = conditions.last {
        conditions[conditions.count - 1] = "else of " + last
      } else if text.hasPrefix("#endif") {
        _ = conditions.popLast()
      } else {
        for statement in text.split(separator: ";") {
          guard let (module, member) = imported(statement.trimmed) else { continue }
          found.append(Import(module: module, member: member, line: index + 1, conditions: conditions))
        }
      }
    }
    return found
  }

  private static func imported(_ statement: String) -> (module: String, member: String?)? {
    let parts = statement.split(separator: " ").map(String.init)
    guard let keyword = parts.firstIndex(of: "import"), keyword + 1 < parts.count else { return nil }
    let modifiers: Set = ["public", "package", "internal", "fileprivate", "private"]
    guard parts[..<keyword].allSatisfy({ $0.hasPrefix("@") || modifiers.contains($0) }) else { return nil }
    let rest = parts[(keyword + 1)...].drop { kinds.contains($0) }
    guard let path = rest.first?.split(separator: ".").map(String.init), let module = path.first else { return nil }
    return (module, path.count > 1 ? path[1] : nil)
  }
}
