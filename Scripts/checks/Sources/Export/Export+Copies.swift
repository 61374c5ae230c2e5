/// Copies side by side, one folder for each package.
extension Export {
  /// The manifest of a package with the names of the copies.
  public func manifestOfCopy(_ package: Package) -> String {
    packages.reduce(manifest(of: package)) { text, other in
      text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
        Self.renaming(String(line), from: other.name, to: other.identity)
      }.joined(separator: "\n")
    }
  }

  /// Replaces the name of one package in the paths and the `package:` arguments of a line.
  private static func renaming(_ line: String, from name: String, to identity: String) -> String {
    guard line.contains(name + "\"") else { return line }
    let parts = line.split(separator: "\"", omittingEmptySubsequences: false).map(String.init)
    return parts.indices.map { index -> String in
      let part = parts[index]
      guard index > 0, index < parts.count - 1 else { return part }
      let before = parts[index - 1]
      if before.hasSuffix("path: "), part.hasPrefix("../"), part.split(separator: "/").last.map(String.init) == name {
        return "../\(identity)"
      }
      return before.hasSuffix("package: ") && part == name ? identity : part
    }.joined(separator: "\"")
  }

  /// The lines that a manifest says to use the copies.
  ///
  /// - Parameter directory: The folder of the copies, as the caller has written it.
  public func usageOfCopies(in directory: String) -> [String] {
    packages[..<wanted].map { "  .package(path: \"\(directory)/\($0.identity)\")," }
      + packages[..<wanted].flatMap { package in
        products(of: package).map { "  .product(name: \"\($0)\", package: \"\(package.identity)\")," }
      }
  }
}
