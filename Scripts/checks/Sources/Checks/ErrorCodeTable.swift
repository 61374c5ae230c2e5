/// The table of a client's error codes, as its documentation has it: a row for each code.
///
///     | code  | name           | cause                 | what to do          | again |
///     | ----- | -------------- | --------------------- | ------------------- | ----- |
///     | 17009 | `wrongPassword` | The password is wrong. | Ask for it again.  | no    |
struct ErrorCodeTable {
  struct Row {
    let code: ErrorCode
    let line: Int
    /// The cells after the name: cause, remedy, and whether the call may be repeated.
    let cells: [String]
  }

  /// The words of the last cell.
  static let repetitions: Set = ["yes", "no", "check"]

  let rows: [Row]

  init(_ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    rows = lines.enumerated().compactMap { index, line in
      let cells = line.split(separator: "|").map(\.trimmed)
      guard line.hasPrefix("| "), cells.count > 1, cells[1].hasPrefix("`") else { return nil }
      let code = ErrorCode(name: String(cells[1].filter { $0 != "`" }), number: cells[0])
      return Row(code: code, line: index + 1, cells: Array(cells.dropFirst(2)).filter { !$0.isEmpty })
    }
  }
}

/// A kind of failure: its name in Swift, and its number (or string) in the sources.
struct ErrorCode: Hashable {
  let name: String
  let number: String
}

/// The declaration of an error code in the sources.
struct ErrorCodeDeclaration {
  let code: ErrorCode
  let file: House.File
  let line: Int
}

extension House {
  /// The error codes that the clients declare, in the order of files and lines.
  ///
  /// A client is the module of a package that has the package's name, such as `VestaAuth` of Auth; its codes stand in
  /// files whose names have "Error".
  var errorCodes: [ErrorCodeDeclaration] {
    files.filter { $0.isSource && $0.declaresErrorCodes }.flatMap { file in
      let lines = file.source.codeAndStrings
      return lines.indices.compactMap { index in
        // A call that is broken after its parenthesis has the number on the next line.
        let line = lines[index].trimmed
        let whole = line.hasSuffix("Self(") && index + 1 < lines.count ? line + lines[index + 1].trimmed : line
        return whole.errorCode.map { ErrorCodeDeclaration(code: $0, file: file, line: index + 1) }
      }
    }
  }
}

extension House.File {
  fileprivate var declaresErrorCodes: Bool {
    package.hasPapers && module == "Vesta\(package.name)" && name.contains("Error")
      && source.code.contains { $0.hasASCII("Code") }
  }
}

extension String {
  /// The error code that a line declares: `case notFound = 5`, or `static let wrongPassword = Self(17009, …`.
  fileprivate var errorCode: ErrorCode? {
    if let match = wholeMatch(of: /(?:case) `?(\w+)`? = (-?[0-9]+)/) {
      return ErrorCode(name: String(match.1), number: String(match.2))
    }
    if let match = prefixMatch(of: /public static let (\w+) = Self\((?:([0-9]+),|"([a-z-]+)"\))/) {
      return ErrorCode(name: String(match.1), number: String(match.2 ?? match.3 ?? ""))
    }
    return nil
  }
}
