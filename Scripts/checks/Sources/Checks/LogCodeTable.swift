/// The table of a module's log codes, as its documentation has it: a row for each code.
///
///     | code          | level | message                        | what to do           |
///     | ------------- | ----- | ------------------------------ | -------------------- |
///     | `I-AUT000005` | error | The session could not be kept. | Make room on the disk. |
struct LogCodeTable {
  struct Row {
    let code: String
    let line: Int
    /// The cells after the code: level, message, what to do.
    let cells: [String]
  }

  /// The levels of `Logger`.
  static let levels: Set = ["error", "warning", "notice", "info", "debug"]

  let rows: [Row]

  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    rows = lines.enumerated().compactMap { index, line in
      guard line.hasPrefix("| `I-") else { return nil }
      let cells = line.split(separator: "|").map(\.trimmed)
      let code = String(cells[0].filter { $0 != "`" })
      return Row(code: code, line: index + 1, cells: Array(cells.dropFirst()).filter { !$0.isEmpty })
    }
  }
}

/// One use of a log code in the sources.
struct LogCodeUse {
  let code: String
  let file: House.File
  let line: Int

  /// The letters of the code, which belong to one module: `AUT` of `I-AUT000005`.
  var prefix: String { String(code.dropFirst(2).prefix(3)) }
}

extension House {
  /// The uses of log codes in shipped modules, in the order of files and lines.
  var logCodeUses: [LogCodeUse] {
    files.filter { $0.isSource && $0.package.hasPapers }.flatMap { file -> [LogCodeUse] in
      let text = tree.files[file.path] ?? ""
      guard text.hasASCII("\"I-") else { return [] }
      return file.source.codeAndStrings.enumerated().flatMap { index, line in
        line.logCodes.map { LogCodeUse(code: $0, file: file, line: index + 1) }
      }
    }
  }
}

extension String {
  /// The codes of messages on a line, such as `I-FST000004`.
  fileprivate var logCodes: [String] {
    guard hasASCII("\"I-") else { return [] }
    return matches(of: /"(I-[A-Z]{3}[0-9]{6})"/).map { String($0.1) }
  }
}
