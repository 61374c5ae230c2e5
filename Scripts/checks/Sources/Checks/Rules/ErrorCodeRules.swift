/// Each error code of a client has its row in the documentation, and each row names a code that exists.
@Sendable func errorCodesAreExplained(_ house: House) -> [Violation] {
  let declared = Dictionary(grouping: house.errorCodes) { errorTable(of: $0.file) }
  let paths = Set(declared.keys).union(house.tree.paths(ending: "/ErrorCodes.md"))
  return paths.sorted().flatMap { path -> [Violation] in
    let table = ErrorCodeTable(house.tree.files[path] ?? "")
    let rows = Set(table.rows.map(\.code))
    let codes = declared[path] ?? []
    let known = Set(codes.map(\.code))
    let unexplained = codes.filter { !rows.contains($0.code) }.map {
      Violation(
        $0.file.path, $0.line, "error-code", "write a row for \($0.code.name) (\($0.code.number)) into \(path)")
    }
    let unused = table.rows.filter { !known.contains($0.code) }.map {
      Violation(
        path, $0.line, "error-code", "delete or correct the row of \($0.code.name): no code has this name and number")
    }
    let unclear = table.rows.filter { $0.cells.count != 3 || !ErrorCodeTable.repetitions.contains($0.cells[2]) }.map {
      Violation(
        path, $0.line, "error-code", "fill the row of \($0.code.name): cause, what to do, and yes, no or check")
    }
    return unexplained + unused + unclear + (codes.isEmpty ? [] : house.unlinked("ErrorCodes", at: path, "error-code"))
  }
}

/// Where the error codes of a file's module stand.
private func errorTable(of file: House.File) -> String {
  let module = file.module ?? ""
  return "\(file.package.folder)/Sources/\(module)/\(module).docc/ErrorCodes.md"
}
