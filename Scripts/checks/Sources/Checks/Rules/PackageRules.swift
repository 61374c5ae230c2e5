/// The first line, the shared settings, the platforms and the language mode are the same in every manifest.
@Sendable func manifestsAreAlike(_ house: House) -> [Violation] {
  guard let model = house.packages.first(where: { $0.room == .core })?.manifest else { return [] }
  return house.packages.flatMap { package -> [Violation] in
    let manifest = package.manifest
    var found: [Violation] = []
    func broken(_ line: Int, _ message: String) {
      found.append(Violation(manifest.path, line, "manifest", message))
    }
    if manifest.source.lines.first != model.source.lines.first {
      broken(1, "start with `\(model.source.lines.first ?? "")` as \(model.path) does")
    }
    if manifest.settings?.text != model.settings?.text {
      broken(manifest.settings?.line ?? 1, "copy the settings block with its comment line from \(model.path)")
    }
    for label in ["platforms", "swiftLanguageModes"] where manifest.arguments[label] != model.arguments[label] {
      broken(manifest.line(of: label), "write `\(label): \(model.arguments[label] ?? "")` as \(model.path) does")
    }
    if manifest.targets.isEmpty, !package.isCompatibility {
      broken(1, "list the targets as literals in `targets: […]`")
    }
    for target in manifest.targets where target.arguments["swiftSettings"] != "settings" {
      let folder = manifest.sources(of: target) + "/"
      guard !house.tree.paths(under: folder, ending: ".swift").isEmpty else { continue }  // C has no Swift settings
      // Programs of the Firebase SDK's users are compiled with the settings that those have.
      if package.isCompatibility, target.kind == "testTarget" { continue }
      broken(target.line, "give \(target.name) `swiftSettings: settings`")
    }
    return found
  }
}

/// Packages outside of the laws, such as consumers, name every package whose modules they import.
@Sendable func importsAreDeclared(_ house: House) -> [Violation] {
  house.packages.filter { $0.room == .other }.flatMap { package in
    foreignImports(house, of: package, rule: "manifest", allowed: [.core, .product, .interop, .other]) { _, _ in "" }
  }
}

/// Each package of the house has a README and a changelog.
@Sendable func packagesSayWhatTheyAre(_ house: House) -> [Violation] {
  house.packages.filter { $0.hasPapers }.flatMap { package in
    ["README.md", "CHANGELOG.md"].filter { house.tree.files["\(package.folder)/\($0)"] == nil }.map {
      Violation(package.manifest.path, 1, "package", "write \(package.folder)/\($0)")
    }
  }
}

/// SwiftPM knows a package in a folder by the folder's name alone, in any case of letters: two of one name cannot meet.
@Sendable func foldersHaveNamesOfTheirOwn(_ house: House) -> [Violation] {
  var taken: [String: String] = [:]
  return house.packages.compactMap { package in
    guard let other = taken.updateValue(package.folder, forKey: package.name.lowercased()) else { return nil }
    let message = "rename the folder: SwiftPM takes \(package.folder) and \(other) for the same package"
    return Violation(package.manifest.path, 1, "package", message)
  }
}

/// No file of ours is too long to be read.
@Sendable func filesStayShort(_ house: House) -> [Violation] {
  house.files.filter { $0.isSource && $0.source.lines.count > 601 }.map {
    Violation($0.path, 601, "length", "split the file: \($0.source.lines.count - 1) lines are more than 600")
  }
}

/// Comments wrap at 120 columns, as code does; rows of tables and words without a space may be longer.
@Sendable func commentsFitTheScreen(_ house: House) -> [Violation] {
  house.files.filter(\.isHouse).flatMap { file in
    file.source.lines.enumerated().compactMap { index, line -> Violation? in
      guard line.count > 120, file.source.comments[index].trimmed.hasPrefix("//") else { return nil }
      let text = file.source.comments[index].trimmed.drop { $0 == "/" }.trimmed
      guard !text.hasPrefix("|"), text.contains(" ") else { return nil }
      return Violation(file.path, index + 1, "width", "wrap this comment at 120 columns: it has \(line.count)")
    }
  }
}

/// No text of the repository points into a developer's machine.
@Sendable func nothingNamesAMachine(_ house: House) -> [Violation] {
  let places = ["root", "work", "tmp/perf"].map { "/\($0)" }
  return house.tree.paths().flatMap { path -> [Violation] in
    let text = house.tree.files[path] ?? ""
    guard places.contains(where: text.contains) else { return [] }
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
      guard let place = places.first(where: { stands($0, asAPathIn: line) }) else { return nil }
      return Violation(path, index + 1, "words", "do not write \(place): the path exists on one machine only")
    }
  }
}

/// Whether `place` begins an absolute path in `line`, and is not the middle of a longer one.
private func stands(_ place: String, asAPathIn line: Substring) -> Bool {
  line.ranges(of: place).contains { range in
    let before = range.lowerBound == line.startIndex ? " " : line[line.index(before: range.lowerBound)]
    let after = range.upperBound == line.endIndex ? " " : line[range.upperBound]
    let startsPath = !(before.isLetter || before.isNumber || "._-/~}*)$".contains(before))
    return startsPath && after == "/"
  }
}
