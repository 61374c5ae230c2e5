/// Lines of a manifest that a text shows lead to packages and products that are there.
///
/// Looked at are `.package(path: "…/Packages/NAME")` and the like of `Interop`, and `.product(name: "…", package: "…")`
/// of a package of the house; a package that a text makes up (`vesta-auth`) may have any product of the house.
@Sendable func manifestLinesLeadSomewhere(_ house: House) -> [Violation] {
  let products = Dictionary(
    house.packages.map { ($0.name, $0.manifest.products) }, uniquingKeysWith: { $0.union($1) })
  let all = products.values.reduce(into: Set<String>()) { $0.formUnion($1) }
  return house.tree.paths(ending: ".md").filter { !$0.hasSuffix("CHANGELOG.md") }.flatMap { path in
    let lines = (house.tree.files[path] ?? "").split(separator: "\n", omittingEmptySubsequences: false)
    return lines.enumerated().flatMap { index, line in
      packageFolders(in: line).filter { house.tree.files[$0 + "/Package.swift"] == nil }.map {
        Violation(path, index + 1, "line", "correct \($0): there is no such package")
      }
        + productNames(in: line).filter { !(products[$0.package] ?? all).contains($0.name) }.map {
          Violation(path, index + 1, "line", "correct \($0.name): \($0.package) has no such product")
        }
    }
  }
}

/// The folders of the house that `.package(path:)` names.
private func packageFolders(in line: Substring) -> [String] {
  line.ranges(of: ".package(path: \"").compactMap { range in
    let path = line[range.upperBound...].prefix { $0 != "\"" }
    guard let room = ["Packages/", "Interop/"].compactMap({ path.ranges(of: $0).first }).first else { return nil }
    return String(path[room.lowerBound...])
  }
}

private func productNames(in line: Substring) -> [(name: String, package: String)] {
  line.ranges(of: ".product(name: \"").compactMap { range in
    let parts = line[range.upperBound...].split(separator: "\"", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count > 3, parts[1] == ", package: " else { return nil }
    return (String(parts[0]), String(parts[2]))
  }
}
