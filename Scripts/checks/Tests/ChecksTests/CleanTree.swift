import Checks

/// A small repository that keeps every law; tests plant violations in it.
struct CleanTree {
  /// The comment that makes a package a composition root.
  static let root = "// A composition root: a program.\n\n"

  /// The line of a log code, and the table that it stands in.
  static let logs = "Packages/Auth/Sources/VestaAuth/Session.swift"
  static let table = "Packages/Auth/Sources/VestaAuth/VestaAuth.docc/LogCodes.md"

  /// The declaration of an error code, and the table that it stands in.
  static let errors = "Packages/Auth/Sources/VestaAuth/AuthErrorCode.swift"
  static let errorTable = "Packages/Auth/Sources/VestaAuth/VestaAuth.docc/ErrorCodes.md"

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
      products: ["VestaCryptoInterop", "VestaConcurrency", "VestaBytes"],
      extra: ["Contracts", "Fakes"].map { #".target(name: "VestaAuthInterop\#($0)", swiftSettings: settings)"# }
        .joined(separator: ",\n    "))
    files["Interop/AuthInterop/Sources/VestaAuthInteropFakes/FakeSeam.swift"] =
      "import VestaAuthInterop\nstruct FakeSeam: Sendable, Seam {}\n"
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
    addPackage("Packages/Shop", dependencies: ["../Auth", "../SQLite"], targets: ["shop"])
    replace("Packages/Shop/Package.swift", "// The settings", "\(Self.root)// The settings")
    addProduct()
    addLogCode()
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

  /// A product in all its rooms, each of which imports what it may.
  private mutating func addProduct() {
    let rooms = ["", "Service", "Remote", "Endpoints", "Wire", "Model"].map { "VestaNotes" + $0 }
    addPackage("Packages/Notes", targets: rooms)
    files["Packages/Notes/Sources/VestaNotes/Uses.swift"] = "import VestaNotesModel\n"
    files["Packages/Notes/Sources/VestaNotesService/Uses.swift"] = "import VestaNotesModel\n"
    files["Packages/Notes/Sources/VestaNotesRemote/Uses.swift"] = "import VestaNotesWire\n"
    files["Packages/Notes/Sources/VestaNotesEndpoints/Uses.swift"] = "import VestaNotesWire\n"
    files["Packages/Notes/Sources/VestaNotesWire/Uses.swift"] = "import VestaNotesModel\n"
    files["Packages/Notes/Tests/VestaNotesTests/A.swift"] = rooms.map { "import \($0)\n" }.joined()
  }

  private mutating func addLogCode() {
    files[Self.logs] = "func log() { logger.error(\"I-AUT000001\", \"No.\") }\n"
    files[Self.table] = "| code | level | message | what to do |\n| `I-AUT000001` | error | No. | Ask again. |\n"
    files["Packages/Auth/Sources/VestaAuth/VestaAuth.docc/VestaAuth.md"] = "- <doc:LogCodes>\n- <doc:ErrorCodes>\n"
    files[Self.errors] = "enum AuthErrorCode: Int { \n  case `internal` = -7\n}\n"
    files[Self.errorTable] = "| code | name |\n| -7 | `internal` | A fault. | Report it. | no |\n"
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
