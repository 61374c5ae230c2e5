/// The tree, understood: its packages, their modules, and every Swift file scanned once.
struct House {
  /// Which laws a package is under.
  enum Room: Equatable {
    case core, product, interop, other
  }

  struct Package {
    let manifest: Manifest
    let room: Room

    var folder: String { manifest.folder }
    var name: String { String(folder.split(separator: "/").last ?? "") }
    /// Whether the package exists to have upstream's module names.
    var isCompatibility: Bool { folder == House.compatibility }
    /// Whether the package says in texts what it is: all but the packages of tests and scripts.
    var hasPapers: Bool { room != .other || isRoot }
    /// Whether the package links products and plug-ins, as a program does, and says so in its manifest.
    var isRoot: Bool { manifest.isRoot }
    /// C modules that this package takes from the system.
    var systemModules: [String] { manifest.targets.filter { $0.kind == "systemLibrary" }.map(\.name) }
  }

  struct File {
    let path: String
    let source: SourceText
    /// The package the file belongs to.
    let package: Package
    /// Whether the file is shipped (below `Sources/`), as opposed to a test.
    let isSource: Bool

    var name: String { String(path.split(separator: "/").last ?? "") }
    /// The module, by the folder below `Sources` or `Tests`.
    var module: String? {
      let parts = path.dropFirst(package.folder.count + 1).split(separator: "/")
      return parts.count > 2 ? String(parts[1]) : nil
    }
    /// Whether the laws for products, Interop and Core hold here.
    var isHouse: Bool { package.room != .other }
  }

  let tree: Tree
  let packages: [Package]
  let files: [File]
  /// The package that defines a module.
  let owners: [String: Package]

  init(_ tree: Tree) {
    self.tree = tree
    let manifests = tree.paths(ending: "/Package.swift")
    packages = manifests.map { path in
      let manifest = Manifest(path: path, text: tree.files[path] ?? "")
      return Package(manifest: manifest, room: Self.room(of: manifest))
    }
    let pairs = packages.flatMap { package in package.manifest.targets.map { ($0.name, package) } }
    owners = Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    files = packages.flatMap { package in
      tree.paths(under: package.folder + "/", ending: ".swift").compactMap { path in
        let inside = path.dropFirst(package.folder.count + 1)
        guard inside.hasPrefix("Sources/") || inside.hasPrefix("Tests/") else { return nil }
        let source = SourceText(tree.files[path] ?? "")
        return File(path: path, source: source, package: package, isSource: inside.hasPrefix("Sources/"))
      }
    }
  }

  private static let compatibility = "Packages/FirebaseCompat"

  private static func room(of manifest: Manifest) -> Room {
    let parts = manifest.folder.split(separator: "/")
    guard parts.count == 2 else { return .other }
    if manifest.folder == "Packages/Core" { return .core }
    if manifest.isRoot { return .other }
    return parts[0] == "Packages" ? .product : parts[0] == "Interop" ? .interop : .other
  }

  /// The package that a manifest's dependency names; `nil` when it is not one of this repository.
  func package(at path: String?, from folder: String) -> Package? {
    guard let path, let target = resolve(path, from: folder) else { return nil }
    return packages.first { $0.folder == target }
  }
}
