/// Files and folders that READMEs and other texts name exist; changelogs are about the past and may name others.
@Sendable func pathsInTextsExist(_ house: House) -> [Violation] {
  let index = PathIndex(house.tree)
  return house.tree.paths(ending: ".md").filter { !$0.hasSuffix("CHANGELOG.md") }.flatMap { path in
    let paper = Paper(path: path, text: house.tree.files[path] ?? "")
    return paper.mentions.filter { !index.has($0, of: paper) }.map {
      Violation(path, $0.line, "paths", "correct \($0.path): there is no such file or folder")
    }
  }
}

/// The README of a package of the house names the five files to read first, and what is not there.
@Sendable func readmesLeadIn(_ house: House) -> [Violation] {
  house.packages.filter { $0.hasPapers }.flatMap { package -> [Violation] in
    let path = package.folder + "/README.md"
    guard let text = house.tree.files[path] else { return [] }  // reported by another rule
    let paper = Paper(path: path, text: text)
    var found: [Violation] = []
    let start = paper.section("Where to start reading")
    if Set(start?.mentions.map(\.path) ?? []).count < 5 {
      let message = "name the five files to read first under `## Where to start reading`"
      found.append(Violation(path, start?.line ?? 1, "package", message))
    }
    if paper.section("Not there yet") == nil {
      found.append(Violation(path, 1, "package", "say what is absent under `## Not there yet`"))
    }
    return found
  }
}

/// The root README, whose drawing shows the house, names every package.
@Sendable func theDrawingIsComplete(_ house: House) -> [Violation] {
  guard let text = house.tree.files["README.md"] else { return [] }
  return house.packages.filter { $0.hasPapers }.compactMap { package in
    guard !text.hasWord(package.name) else { return nil }
    return Violation("README.md", 1, "package", "draw \(package.name) into the picture of the house")
  }
}
