/// Law 6: a composition root is the end of the graph: no package of the house depends on one.
///
/// A root may link products and plug-ins because it is a program. A package below it would bring them in by the back
/// door, and programs would get engines and libraries that they have not chosen.
@Sendable func nothingDependsOnARoot(_ house: House) -> [Violation] {
  house.packages.filter(\.hasPapers).flatMap { package in
    package.manifest.dependencies.compactMap { dependency -> Violation? in
      guard let target = house.package(at: dependency.path, from: package.folder), target.isRoot else { return nil }
      let message = "drop the dependency on \(target.folder): it is a composition root, for programs and tests alone"
      return Violation(package.manifest.path, dependency.line, "law 6", message)
    }
  }
}
