/// A log code names one message among all others: no two files use the same one.
@Sendable func logCodesAreUnique(_ house: House) -> [Violation] {
  var owners: [String: String] = [:]
  return house.logCodeUses.compactMap { use in
    let owner = owners[use.code] ?? use.file.path
    owners[use.code] = owner
    guard owner != use.file.path else { return nil }
    let message = "\(use.code) names a message of \(owner) already: take the next free number"
    return Violation(use.file.path, use.line, "log-code", message)
  }
}

/// The letters of a log code belong to one module: a reader of a log knows which module speaks.
@Sendable func logPrefixesBelongToOneModule(_ house: House) -> [Violation] {
  var owners: [String: String] = [:]
  return house.logCodeUses.compactMap { use in
    guard let module = use.file.module else { return nil }
    let owner = owners[use.prefix] ?? module
    owners[use.prefix] = owner
    guard owner != module else { return nil }
    let message = "give \(module) letters of its own: \(use.code) begins as the codes of \(owner) do"
    return Violation(use.file.path, use.line, "log-code", message)
  }
}

/// Each log code has its row in the documentation of its module, and each row names a code that is used.
@Sendable func logCodesAreRegistered(_ house: House) -> [Violation] {
  let uses = Dictionary(grouping: house.logCodeUses) { catalogue(of: $0.file) }
  let tables = house.tree.paths(ending: "/LogCodes.md")
  let paths = Set(uses.keys).union(tables)
  return paths.sorted().flatMap { path -> [Violation] in
    let table = LogCodeTable(house.tree.files[path] ?? "")
    let rows = Set(table.rows.map(\.code))
    let used = uses[path] ?? []
    let known = Set(used.map(\.code))
    let unregistered = used.filter { !rows.contains($0.code) }.map {
      Violation($0.file.path, $0.line, "log-code", "write a row for \($0.code) into \(path)")
    }
    let unused = table.rows.filter { !known.contains($0.code) }.map {
      Violation(path, $0.line, "log-code", "delete the row of \($0.code): the module does not use it")
    }
    let unclear = table.rows.filter { $0.cells.count != 3 || !LogCodeTable.levels.contains($0.cells[0]) }.map {
      Violation(path, $0.line, "log-code", "fill the row of \($0.code): level, message and what to do")
    }
    return unregistered + unused + unclear + (used.isEmpty ? [] : house.unlinked("LogCodes", at: path, "log-code"))
  }
}

/// Where the codes of a file's module stand.
private func catalogue(of file: House.File) -> String {
  let module = file.module ?? ""
  return "\(file.package.folder)/Sources/\(module)/\(module).docc/LogCodes.md"
}

extension House {
  /// A table that the landing page of its catalogue does not link.
  func unlinked(_ name: String, at path: String, _ rule: String) -> [Violation] {
    let folder = path.split(separator: "/").dropLast().joined(separator: "/")
    let landing = "\(folder)/\(folder.split(separator: "/").last?.dropLast(5) ?? "").md"
    guard tree.files[path] != nil, tree.files[landing]?.contains("<doc:\(name)>") != true else { return [] }
    return [Violation(landing, 1, rule, "link <doc:\(name)> among the topics")]
  }
}
