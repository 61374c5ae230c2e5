import Checks

/// A small repository that keeps every law; tests plant violations in it.
struct CleanTree {
  static let head = """
    // swift-tools-version: 6.2
    import PackageDescription

    // The settings every target is built with.
    let settings: [SwiftSetting] = [
      .enableUpcomingFeature("ExistentialAny")
    ]


    """

  var files: [String: String] = [:]

  init() {
    addPackage("Packages/Core", targets: ["VestaConcurrency", "VestaCore"])
    addPackage("Interop/CryptoInterop", targets: ["VestaCryptoInterop"])
    addPackage(
      "Interop/AuthInterop", dependencies: ["../CryptoInterop", "../../Packages/Core"], targets: ["VestaAuthInterop"],
      products: ["VestaCryptoInterop", "VestaConcurrency", "VestaBytes"])
    files["Interop/AuthInterop/README.md"]? += "\nUses keys of CryptoInterop.\n"
    let seams = ["../Core", "../../Interop/AuthInterop"]
    let products = ["VestaCore", "VestaAuthInterop"]
    addPackage("Packages/Auth", dependencies: seams, targets: ["VestaAuth", "VestaAuthService"], products: products)
    addPackage(
      "Packages/Firestore", dependencies: seams, targets: ["VestaFirestore", "VestaFirestoreService"],
      products: products)
    let library = #".systemLibrary(name: "CVestaSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])])"#
    addPackage("Packages/SQLite", dependencies: seams, targets: ["VestaSQLite"], products: products, extra: library)
    addPackage("Tests/Consumers/AuthConsumer", dependencies: ["../../../Packages/Auth"], targets: ["AuthConsumer"])
    files["Packages/Core/Sources/VestaCore/Platform.swift"] = "#if canImport(Glibc)\n  import Glibc\n#endif\n"
    files["Packages/SQLite/Sources/VestaSQLite/File.swift"] = "import CVestaSQLite\nimport VestaCore\n"
    files["Packages/Auth/Sources/VestaAuth/Auth.swift"] = "import VestaAuthInterop\npublic import VestaCore\n"
    files["Interop/AuthInterop/Sources/VestaAuthInterop/Seam.swift"] = """
      #if canImport(FoundationEssentials)
        public import FoundationEssentials
      #else
        public import Foundation
      #endif
      import VestaCryptoInterop

      /// A seam. It may say fatalError( or VestaAuth here.
      public protocol Seam: Sendable {
        /// Asks.
        @discardableResult
        func ask() async -> Answer
      }
      /// An answer.
      public enum Answer { 
        /// Agreed.
        case yes
        // A note.
        /// Refused.
        case no
        var word: String { switch self { case .yes: "try!"; case .no: "\\(Self.no)" } }
      }
      enum Inner { case undocumented }
      // The count is guarded by the lock beside it.
      /// A box.
      @usableFromInline
      final class Box: @unchecked Sendable {}

      """
  }

  mutating func addPackage(
    _ folder: String, dependencies: [String] = [], targets: [String], products: [String] = [], extra: String? = nil
  ) {
    let named = products.map { #".product(name: "\#($0)", package: "P")"# }.joined(separator: ", ")
    let packages = dependencies.map { ".package(path: \"\($0)\")" }.joined(separator: ", ")
    let entries =
      targets.map { ".target(name: \"\($0)\", dependencies: [\(named)], swiftSettings: settings)" }
      + (extra.map { [$0] } ?? [])
    files["\(folder)/Package.swift"] =
      Self.head + """
        let package = Package(
          name: "\(folder)",
          platforms: [.macOS(.v15)],
          dependencies: [\(packages)],
          targets: [
            \(entries.joined(separator: ",\n    "))
          ],
          swiftLanguageModes: [.v6]
        )

        """
    files["\(folder)/README.md"] = Self.readme(targets[0])
    files["\(folder)/CHANGELOG.md"] = "# Changelog\n"
    for target in targets { files["\(folder)/Sources/\(target)/Empty.swift"] = "// Nothing yet.\n" }
  }

  private static func readme(_ target: String) -> String {
    let files = ["Package.swift", "README.md", "CHANGELOG.md", "\(target)/Empty.swift", "Sources/\(target)"]
    return """
      # A package

      ## Not there yet

      ## Where to start reading

      \(files.map { "`\($0)`" }.joined(separator: ", "))

      """
  }

  /// Changes one place of a file that must be there.
  mutating func replace(_ path: String, _ old: String, _ new: String) {
    let text = files[path] ?? ""
    precondition(text.contains(old), "\(path) does not contain \(old)")
    files[path] = text.replacing(old, with: new)
  }

  /// The violations as `path:line: rule`.
  var verdict: [String] {
    check(Tree(files)).map { "\($0.path):\($0.line): \($0.rule)" }
  }
}
