/// A seam ships the contracts of its protocols and fakes of them, for the tests of the packages on both sides.
///
/// A seam is an Interop package with a public protocol that others implement. `EngineInterop` has none: it is a frame
/// that engines are built on, and there is nothing to fake.
@Sendable func seamsHaveContractsAndFakes(_ house: House) -> [Violation] {
  house.packages.filter { $0.room == .interop }.flatMap { package -> [Violation] in
    let module = "Vesta\(package.name)"
    let protocols = house.files.filter { $0.isSource && $0.package.folder == package.folder && $0.module == module }
      .flatMap(\.source.publicProtocols)
    guard !protocols.isEmpty else { return [] }
    let libraries = ["Contracts", "Fakes"].map { module + $0 }
    let missing = libraries.filter { name in !package.manifest.targets.contains { $0.name == name } }.map { name in
      let message = "add the library \(name): others implement \(protocols[0]), and tests need its contracts and fakes"
      return Violation(package.manifest.path, 1, "seam", message)
    }
    guard missing.isEmpty else { return missing }
    let fakes = house.files.filter { $0.isSource && $0.module == libraries[1] }
    let isFaked = fakes.contains { file in
      file.source.code.contains { line in protocols.contains { line.conforms(to: $0) } }
    }
    if isFaked { return [] }
    let message = "put a type into \(libraries[1]) that conforms to \(protocols.joined(separator: " or "))"
    return [Violation(package.manifest.path, 1, "seam", message)]
  }
}

/// The place where the contracts of all seams meet all implementations.
private let meeting = "Tests/Contracts"

/// Every contract set of the house runs in one place, against every implementation.
@Sendable func contractsMeetTheirImplementations(_ house: House) -> [Violation] {
  guard let place = house.packages.first(where: { $0.folder == meeting }) else { return [] }
  let imported = Set(
    house.files.filter { $0.package.folder == meeting }.flatMap { $0.source.imports.map(\.module) })
  let modules = house.packages.filter { $0.room == .interop }.flatMap { $0.manifest.targets.map(\.name) }
  let unused = modules.filter { $0.hasSuffix("Contracts") && !imported.contains($0) }.map {
    Violation(place.manifest.path, 1, "seam", "run \($0) against its implementations: no file imports it")
  }
  return unused + contractSetsOutside(house, place, imported)
}

/// The sets of contracts in the imported modules that no file of the meeting place names.
private func contractSetsOutside(_ house: House, _ place: House.Package, _ imported: Set<String>) -> [Violation] {
  let lines = house.files.filter { $0.package.folder == meeting }.flatMap(\.source.code)
  let seams = house.files.filter { $0.isSource && $0.package.room == .interop }
  let sets = seams.filter { $0.module.map(imported.contains) == true }
    .flatMap(\.source.contractSets)
  return sets.filter { name in !lines.contains { $0.hasWord(name) } }.map { name in
    Violation(place.manifest.path, 1, "seam", "run \(name) against its implementations: no file names it")
  }
}

extension SourceText {
  /// The names of the protocols that a file declares public.
  fileprivate var publicProtocols: [String] {
    code.compactMap { line in
      let words = line.words
      guard let kind = words.firstIndex(of: "protocol"), kind + 1 < words.count, words[..<kind].contains("public")
      else { return nil }
      return words[kind + 1]
    }
  }
}

extension SourceText {
  /// The names of the sets of contracts that a file declares: `public enum …Contracts`.
  fileprivate var contractSets: [String] {
    code.compactMap { line in
      let words = line.words
      guard let kind = words.firstIndex(of: "enum"), kind + 1 < words.count, words[..<kind].contains("public"),
        words[kind + 1].hasSuffix("Contracts")
      else { return nil }
      return words[kind + 1]
    }
  }
}

extension String {
  /// Whether the line declares a type, or extends one, that conforms to a protocol.
  fileprivate func conforms(to name: String) -> Bool {
    guard let colon = firstIndex(of: ":"),
      self[..<colon].words.contains(where: { ["class", "struct", "enum", "actor", "extension"].contains($0) })
    else { return false }
    return self[colon...].hasWord(name)
  }
}
