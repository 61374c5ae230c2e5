/// A list of libraries that has everything: the named ones, and the missing ones.
///
/// The names are read from the texts of ``Dependency/required(_:providedBy:)``. A text has alternatives, divided by
/// " or " or ";". An alternative names the libraries that it takes, each as "library of module (remark; folder)":
///
///     AuthServiceLibrary of VestaAuthService (the engine; Packages/Auth) with SQLiteLibrary of VestaSQLite
///     (Packages/SQLite), or AuthRemoteLibrary of VestaAuthRemote (a server; Packages/Auth)
///
/// With the embedded backend this proposes the first two, and the third one with any other backend.
struct LibraryProposal {
  /// A library, and what a program imports and depends on for it.
  struct Name: Hashable {
    let library: String
    let module: String
    let package: String

    var isRemote: Bool { module.hasSuffix("Remote") }
    var isEngine: Bool { module.hasSuffix("Service") }
  }

  /// The libraries that the program named, as it wrote them.
  private let named: [String]
  /// The libraries to add, each once.
  let missing: [Name]

  /// A proposal; `nil` where a text of a missing dependency names no library for this backend.
  init?(named libraries: [any Library.Type], missing texts: [String?], backend: VestaOptions.Backend) {
    named = libraries.map { "\($0)" }
    var missing: [Name] = []
    for text in texts {
      guard let text, let choice = Self.choice(among: Self.alternatives(in: text), backend.kind) else { return nil }
      for name in choice where !missing.contains(name) && !named.contains(name.library) { missing.append(name) }
    }
    self.missing = missing
  }

  /// The lines to copy.
  var text: String {
    """
    Write
      libraries: [\((named + missing.map(\.library)).map { "\($0).self" }.joined(separator: ", "))]
    with `import \(missing.map(\.module).joined(separator: "`, `import "))`, and among the dependencies of the target
      \(missing.map { ".product(name: \"\($0.module)\", package: \"\($0.package)\")" }.joined(separator: ",\n  "))
    and, unless they are there, among those of the package, with the path of your clone of Vesta
      \(packages.map { ".package(path: \"../vesta/Packages/\($0)\")" }.joined(separator: ",\n  "))
    """
  }

  /// The packages of the missing libraries, each once.
  private var packages: [String] {
    missing.reduce(into: []) { packages, name in
      if !packages.contains(name.package) { packages.append(name.package) }
    }
  }

  /// The alternatives of a text.
  static func alternatives(in text: String) -> [[Name]] {
    var alternatives: [[Name]] = []
    var end = text.startIndex
    for match in text.matches(of: /(\w+) of (\w+) \((?:[^()]*; )?Packages\/(\w+)\)/) {
      let between = text[end..<match.range.lowerBound]
      let name = Name(
        library: String(match.output.1), module: String(match.output.2), package: String(match.output.3))
      if alternatives.isEmpty || between.contains(" or ") || between.contains(";") {
        alternatives.append([name])
      } else {
        alternatives[alternatives.count - 1].append(name)
      }
      end = match.range.upperBound
    }
    return alternatives
  }

  private static func choice(among alternatives: [[Name]], _ kind: VestaOptions.Backend.Kind) -> [Name]? {
    guard kind != .embedded else { return alternatives.first { !$0[0].isRemote } }
    return alternatives.first { $0[0].isRemote } ?? alternatives.first { !$0[0].isEngine }
  }
}
