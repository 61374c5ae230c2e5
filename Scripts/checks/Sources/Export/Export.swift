public import Checks

/// A reason why packages cannot be exported.
public struct ExportFailure: Error, Equatable, CustomStringConvertible {
  /// The sentence to print.
  public let description: String
  /// Whether the call was wrong, so that the usage is of help.
  public let isMisuse: Bool

  /// A failure.
  public init(_ description: String, isMisuse: Bool = false) {
    self.description = description
    self.isMisuse = isMisuse
  }
}

/// Packages and everything that they need, in the form of copies that point to nothing outside of them.
///
/// Worked example, for `Export(tree, ["Auth"])`:
///
///     Packages/Auth           -> vesta-auth           .package(path: "../Core")  ->  .package(path: "../vesta-core")
///     Packages/Core           -> vesta-core
///     Interop/AuthInterop     -> vesta-auth-interop
///
/// The names of the copies are long because SwiftPM knows a package in a folder by the folder's name, and `core` would
/// meet others.
public struct Export {
  /// One package.
  public struct Package: Equatable {
    /// The folder, relative to the root of the repository.
    public let folder: String

    /// The name of the folder.
    public var name: String { String(folder.split(separator: "/").last ?? "") }

    /// The name of the copy: `vesta-`, and the words of the name in lower case.
    public var identity: String {
      let head = name.replacing(/([a-z0-9])([A-Z])/) { "\($0.output.1)-\($0.output.2)" }
      return "vesta-" + head.lowercased()
    }
  }

  /// The packages, the requested ones first.
  public let packages: [Package]
  /// The number of packages that were asked for.
  public let wanted: Int
  private let manifests: [String: String]

  /// Finds the packages and what they need.
  ///
  /// - Parameters:
  ///   - tree: The manifests of the repository.
  ///   - names: The names of folders of `Packages` and `Interop`.
  /// - Throws: `ExportFailure` for an unknown name, and where law 1 is broken: a product may need Core and seams only.
  public init(_ tree: Tree, _ names: [String]) throws(ExportFailure) {
    var closure: [Package] = []
    for name in names {
      let package = try Self.package(named: name, in: tree)
      if !closure.contains(package) { closure.append(package) }
    }
    wanted = closure.count
    var index = 0
    while index < closure.count {
      for folder in try Self.dependencies(of: closure[index], in: tree) where !closure.contains(Package(folder: folder))
      {
        closure.append(Package(folder: folder))
      }
      index += 1
    }
    packages = closure
    manifests = Dictionary(
      uniqueKeysWithValues: closure.map { ($0.folder, tree.files[$0.folder + "/Package.swift"] ?? "") })
  }

  /// The names of all packages that can be exported, sorted by room.
  public static func known(in tree: Tree) -> [String] {
    ["Packages", "Interop"].flatMap { room in
      tree.files.keys.compactMap { path in
        let parts = path.split(separator: "/")
        return parts.count == 3 && parts[0] == room && parts[2] == "Package.swift" ? String(parts[1]) : nil
      }.sorted()
    }
  }

  private static func package(named name: String, in tree: Tree) throws(ExportFailure) -> Package {
    if name.isEmpty || name.contains("/") || name.hasPrefix(".") { throw ExportFailure("", isMisuse: true) }
    for room in ["Packages", "Interop"] where tree.files["\(room)/\(name)/Package.swift"] != nil {
      return Package(folder: "\(room)/\(name)")
    }
    throw ExportFailure("There is no package '\(name)'. Known: \(known(in: tree).joined(separator: " "))")
  }

  private static func dependencies(of package: Package, in tree: Tree) throws(ExportFailure) -> [String] {
    let path = package.folder + "/Package.swift"
    let manifest = Manifest(path: path, text: tree.files[path] ?? "")
    var folders: [String] = []
    for written in manifest.dependencies.compactMap(\.path) {
      guard let folder = resolve(written, from: package.folder), tree.files[folder + "/Package.swift"] != nil else {
        throw ExportFailure("\(path) depends on \(written), which is not there.")
      }
      let isAllowed = folder == "Packages/Core" || folder.hasPrefix("Interop/")
      // A composition root brings the products along.
      guard isAllowed || (folder.hasPrefix("Packages/") && manifest.isRoot) else {
        throw ExportFailure(
          "\(package.folder) needs \(folder), which is neither Core nor an Interop package: it breaks law 1 and cannot be "
            + "exported.")
      }
      folders.append(folder)
    }
    return folders
  }

  /// The text of a package's manifest.
  func manifest(of package: Package) -> String { manifests[package.folder] ?? "" }
}
