import Testing

@testable import Checks

/// Which modules meet: the rooms of one product, and programs.
@Suite final class CompositionTests {
  var tree = CleanTree()

  @Test(arguments: [
    ("VestaNotes", "VestaNotesService"), ("VestaNotes", "VestaNotesRemote"), ("VestaNotes", "VestaNotesEndpoints"),
    ("VestaNotes", "VestaNotesWire"), ("VestaNotesModel", "VestaNotesService"), ("VestaNotesModel", "VestaNotesWire"),
    ("VestaNotesService", "VestaNotesWire"), ("VestaNotesService", "VestaNotesRemote"),
    ("VestaNotesService", "VestaNotesEndpoints"), ("VestaNotesService", "VestaNotes"),
    ("VestaNotesRemote", "VestaNotesService"), ("VestaNotesRemote", "VestaNotesEndpoints"),
    ("VestaNotesRemote", "VestaNotes"), ("VestaNotesEndpoints", "VestaNotesService"),
    ("VestaNotesEndpoints", "VestaNotesRemote"), ("VestaNotesEndpoints", "VestaNotes"),
    ("VestaNotesWire", "VestaNotesService"), ("VestaNotesWire", "VestaNotesRemote"),
    ("VestaNotesWire", "VestaNotesEndpoints"), ("VestaNotesWire", "VestaNotes"),
  ])
  func `a module that leaves its role is found, by its import and by its manifest`(module: String, used: String) {
    let file = "Packages/Notes/Sources/\(module)/Uses.swift"
    tree.files[file] = "// first\n@testable import \(used)\n"
    #expect(tree.verdict == ["\(file):2: law 1"])
    tree.files[file] = nil
    tree.replace(
      "Packages/Notes/Package.swift", "name: \"\(module)\", dependencies: [",
      "name: \"\(module)\", dependencies: [\"\(used)\"")
    #expect(tree.verdict.count == 1)
    #expect(tree.verdict.first?.hasPrefix("Packages/Notes/Package.swift:1") == true)
  }

  @Test(arguments: ["VestaNotesTesting", "VestaNotesSpecs"])
  func `a library for tests may use every room`(module: String) {
    tree.files["Packages/Notes/Sources/\(module)/A.swift"] = "import VestaNotes\nimport VestaNotesService\n"
    #expect(tree.verdict == [])
  }

  @Test func `a program that links plug-ins without its mark is found`() {
    tree.replace("Packages/Shop/Package.swift", CleanTree.root, "")
    #expect(tree.verdict.filter { $0.hasSuffix(": law 1") }.count == 2)
  }

  @Test(arguments: [
    ("Interop/AuthInterop", "VestaAuthInterop", "law 2"), ("Packages/Core", "VestaCore", "law 3"),
  ])
  func `the mark changes nothing for a seam and for Core`(folder: String, module: String, law: String) {
    tree.replace("\(folder)/Package.swift", "// The settings", "\(CleanTree.root)// The settings")
    tree.files["\(folder)/Sources/\(module)/A.swift"] = "import VestaAuth\n"
    #expect(tree.verdict.contains("\(folder)/Sources/\(module)/A.swift:1: \(law)"))
  }

  @Test(arguments: ["Packages/Auth", "Interop/CryptoInterop", "Packages/Store"])
  func `a package of the house that depends on a composition root is found`(folder: String) {
    if folder == "Packages/Store" {  // another root
      tree.addPackage(folder, targets: ["store"])
      tree.replace("\(folder)/Package.swift", "// The settings", "\(CleanTree.root)// The settings")
    }
    tree.replace(
      "\(folder)/Package.swift", "  dependencies: [", "  dependencies: [.package(path: \"../../Packages/Shop\"), ")
    #expect(tree.verdict.contains { $0.hasPrefix(folder) && $0.hasSuffix(": law 6") })
  }

  @Test func `tests may depend on a composition root, and a root has its papers`() {
    tree.addPackage("Tests/ShopTests", dependencies: ["../../Packages/Shop"], targets: ["ShopTests"])
    #expect(tree.verdict == [])
    tree.files["Packages/Shop/CHANGELOG.md"] = nil
    #expect(tree.verdict.filter { $0.hasSuffix(": package") } == ["Packages/Shop/Package.swift:1: package"])
  }
}
