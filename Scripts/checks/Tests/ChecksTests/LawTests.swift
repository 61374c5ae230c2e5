import Testing

@testable import Checks

@Suite final class LawTests {
  var tree = CleanTree()

  @Test func `a tree that keeps the laws has no violations`() {
    #expect(tree.verdict == [])
  }

  @Test func `law 1 finds a product that depends on a product`() {
    tree.replace("Packages/Firestore/Package.swift", #".package(path: "../Core")"#, #".package(path: "../Auth")"#)
    #expect(tree.verdict == ["Packages/Firestore/Package.swift:12: law 1"])
  }

  @Test(arguments: [
    #".package(url: "https://example.com/a.git", from: "1.0.0")"#, #".package(path: "../../../elsewhere")"#,
    #".package(path: "/opt/elsewhere")"#, #".package(path: "../SQLite")"#,
  ])
  func `law 1 finds a dependency that is neither Core nor interop`(dependency: String) {
    tree.replace("Packages/Auth/Package.swift", #".package(path: "../Core")"#, dependency)
    #expect(tree.verdict.contains("Packages/Auth/Package.swift:12: law 1"))
  }

  @Test(arguments: ["import VestaAuth", "public import struct VestaAuth.User", "@testable import VestaAuthService"])
  func `law 1 finds an import of another product`(line: String) {
    tree.files["Packages/Firestore/Sources/VestaFirestore/A.swift"] = "// first\n\(line)\n"
    tree.files["Packages/Firestore/Tests/VestaFirestoreTests/A.swift"] = "\(line)\n"
    let expected = [
      "Packages/Firestore/Sources/VestaFirestore/A.swift:2: law 1",
      "Packages/Firestore/Tests/VestaFirestoreTests/A.swift:1: law 1",
    ]
    #expect(tree.verdict.filter { $0.hasSuffix(": law 1") } == expected)
  }

  @Test func `law 1 finds a seam that is added by accident`() {
    tree.files["Packages/Firestore/Sources/VestaFirestore/A.swift"] = "import VestaCryptoInterop\n"
    #expect(tree.verdict.contains("Packages/Firestore/Sources/VestaFirestore/A.swift:1: law 1"))
  }

  @Test(arguments: ["../../Packages/Auth", "../../Packages/SQLite", "../../../elsewhere"])
  func `law 2 finds an interop that depends on more than the ground floor`(path: String) {
    tree.replace(
      "Interop/CryptoInterop/Package.swift", "dependencies: [],\n", "dependencies: [.package(path: \"\(path)\")],\n")
    #expect(tree.verdict == ["Interop/CryptoInterop/Package.swift:12: law 2"])
  }

  @Test func `law 2 finds a seam that uses VestaCore, in its manifest and in its imports`() {
    tree.replace("Interop/AuthInterop/Package.swift", #""VestaConcurrency""#, #""VestaCore""#)
    tree.files["Interop/AuthInterop/Sources/VestaAuthInterop/A.swift"] = "import VestaCore\n"
    #expect(
      tree.verdict == [
        "Interop/AuthInterop/Package.swift:14: law 2", "Interop/AuthInterop/Sources/VestaAuthInterop/A.swift:1: law 2",
      ])
  }

  @Test func `law 2 lets a seam use the ground floor`() {
    tree.files["Interop/AuthInterop/Sources/VestaAuthInterop/A.swift"] = "import VestaBytes\nimport VestaConcurrency\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: [("VestaAuthInterop", 1), ("VestaAuthInteropContracts", 0), ("VestaAuthInteropFakes", 0)])
  func `VestaTesting is for contracts, fakes and tests`(module: String, count: Int) {
    tree.addPackage(
      "Interop/AuthInterop", dependencies: ["../CryptoInterop", "../../Packages/Core"],
      targets: ["VestaAuthInterop", "VestaAuthInteropContracts", "VestaAuthInteropFakes"],
      products: ["VestaCryptoInterop", "VestaTesting"])
    tree.addPackage("Packages/Core", targets: ["VestaConcurrency", "VestaBytes", "VestaTesting", "VestaCore"])
    tree.files["Interop/AuthInterop/README.md"]? += "CryptoInterop"
    tree.files["Interop/AuthInterop/Sources/\(module)/A.swift"] = "import VestaTesting\n"
    #expect(tree.verdict.filter { $0.hasSuffix(": law 2") }.count == count)
  }

  @Test func `an import without its product in the target is found`() {
    tree.files["Packages/Firestore/Sources/VestaFirestore/A.swift"] = "import VestaConcurrency\n"
    #expect(tree.verdict == ["Packages/Firestore/Sources/VestaFirestore/A.swift:1: product"])
  }

  @Test(arguments: [("VestaAuthService", "AuthService"), ("VestaAuthService", "CAuth")])
  func `a module without the prefix is found`(old: String, new: String) {
    tree.replace("Packages/Auth/Package.swift", "\"\(old)\"", "\"\(new)\"")
    #expect(tree.verdict == ["Packages/Auth/Package.swift:15: prefix"])
  }

  @Test func `a seam that is neither an Interop nor a Backend is found`() {
    tree.addPackage("Interop/Senders", targets: ["VestaSenders"])
    #expect(tree.verdict == ["Interop/Senders/Package.swift:1: prefix"])
  }

  @Test func `law 2 finds an interop whose README keeps silent`() {
    tree.replace("Interop/AuthInterop/README.md", "Uses keys of CryptoInterop.", "")
    #expect(tree.verdict == ["Interop/AuthInterop/Package.swift:12: law 2"])
  }

  @Test(arguments: ["VestaFirestore", "VestaAuth"])
  func `law 2 finds an import from the packages`(module: String) {
    tree.files["Interop/AuthInterop/Sources/VestaAuthInterop/A.swift"] = "import \(module)\n"
    #expect(tree.verdict.contains("Interop/AuthInterop/Sources/VestaAuthInterop/A.swift:1: law 2"))
  }

  @Test func `law 3 finds a dependency of Core`() {
    let dependency = #"dependencies: [.package(path: "../../Interop/AuthInterop")]"#
    tree.replace("Packages/Core/Package.swift", "dependencies: []", dependency)
    #expect(tree.verdict == ["Packages/Core/Package.swift:12: law 3"])
  }

  @Test(arguments: [
    "let a = VestaAuth.self", "let a = \"VestaFirestoreService\"", "let a: any AuthInterop", "/**/ VestaSQLite()",
  ])
  func `law 3 finds the name of a product or seam in Core`(line: String) {
    tree.files["Packages/Core/Sources/VestaCore/A.swift"] = "\n\(line)\n"
    #expect(tree.verdict == ["Packages/Core/Sources/VestaCore/A.swift:2: law 3"])
  }

  @Test func `law 3 lets comments and longer names pass`() {
    tree.files["Packages/Core/Sources/VestaCore/A.swift"] = "// as VestaAuth does\nlet myVestaAuthority = 1\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: ["Packages/Core", "Packages/Auth", "Interop/AuthInterop"])
  func `law 4 finds a system library outside of a plug-in`(folder: String) {
    let library = #".systemLibrary(name: "CVestaZ", pkgConfig: "z", providers: [.apt(["zlib1g-dev"])]),"#
    tree.replace("\(folder)/Package.swift", "targets: [", "targets: [\n\(library)")
    #expect(tree.verdict == ["\(folder)/Package.swift:14: law 4"])
  }

  @Test(arguments: [#"pkgConfig: "sqlite3", "#, #", providers: [.apt(["libsqlite3-dev"])]"#])
  func `law 4 finds a system library that does not say who provides it`(part: String) {
    tree.replace("Packages/SQLite/Package.swift", part, part.hasPrefix("p") ? "" : "")
    #expect(tree.verdict == ["Packages/SQLite/Package.swift:15: law 4"])
  }

  @Test func `law 4 finds an import of another plug-in's library`() {
    tree.files["Packages/Auth/Sources/VestaAuthService/A.swift"] = "import CVestaSQLite\n"
    let expected = "Packages/Auth/Sources/VestaAuthService/A.swift:1: law 4"
    #expect(tree.verdict.contains(expected))
  }

  @Test(arguments: [
    "import Glibc", "#if os(Linux)\n#endif", "#if canImport(Darwin)\n#endif", "#if DEBUG\n#elseif arch(arm64)\n#endif",
  ])
  func `law 5 finds platform code outside of its file`(text: String) {
    tree.files["Packages/Auth/Sources/VestaAuth/A.swift"] = text + "\n"
    #expect(tree.verdict.count == 1)
    #expect(tree.verdict.first?.hasSuffix(": law 5") == true)
    tree.files["Packages/Auth/Sources/VestaAuth/A.swift"] = nil
    tree.files["Packages/Auth/Sources/VestaAuth/Platform.swift"] = text + "\n"
    tree.files["Packages/Auth/Sources/VestaAuth/Platform+Windows.swift"] = text + "\n"
    #expect(tree.verdict == [])
  }

  @Test func `a consumer names every package it imports`() {
    tree.files["Tests/Consumers/AuthConsumer/Sources/AuthConsumer/main.swift"] = "import VestaAuth\nimport VestaCore\n"
    #expect(tree.verdict == ["Tests/Consumers/AuthConsumer/Sources/AuthConsumer/main.swift:2: manifest"])
  }
}
