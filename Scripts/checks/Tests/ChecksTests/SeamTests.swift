import Testing

@testable import Checks

@Suite final class SeamTests {
  var tree = CleanTree()

  @Test(arguments: ["Contracts", "Fakes"])
  func `a seam without its contracts or fakes is found`(library: String) {
    tree.replace("Interop/AuthInterop/Package.swift", "VestaAuthInterop\(library)", "VestaAuthInteropOther")
    #expect(tree.verdict == ["Interop/AuthInterop/Package.swift:1: seam"])
  }

  @Test(arguments: ["// Seam\n", "struct FakeSeam {}\n", "struct FakeSeam: Sendable {}\nlet a: any Seam\n"])
  func `fakes that conform to no protocol of their seam are found`(text: String) {
    tree.files["Interop/AuthInterop/Sources/VestaAuthInteropFakes/FakeSeam.swift"] = text
    #expect(tree.verdict == ["Interop/AuthInterop/Package.swift:1: seam"])
  }

  @Test func `a frame without a protocol needs no fakes`() {
    tree.addPackage("Interop/EngineInterop", targets: ["VestaEngineInterop"])
    tree.files["Interop/EngineInterop/Sources/VestaEngineInterop/A.swift"] = "protocol Inner {}\n// public protocol A\n"
    #expect(tree.verdict == [])
  }

  @Test func `contracts that run nowhere are found`() {
    tree.addPackage(
      "Tests/Contracts", dependencies: ["../../Interop/AuthInterop"], targets: ["ContractsTests"],
      products: ["VestaAuthInteropContracts"])
    #expect(tree.verdict == ["Tests/Contracts/Package.swift:1: seam"])
    tree.files["Tests/Contracts/Tests/ContractsTests/A.swift"] = "import VestaAuthInteropContracts\n"
    #expect(tree.verdict == [])
  }

  @Test func `a set of contracts that runs nowhere is found, also when its module is imported`() {
    tree.addPackage(
      "Tests/Contracts", dependencies: ["../../Interop/AuthInterop"], targets: ["ContractsTests"],
      products: ["VestaAuthInteropContracts"])
    tree.files["Interop/AuthInterop/Sources/VestaAuthInteropContracts/C.swift"] =
      "/// Promises.\npublic enum AuthContracts {}\npublic enum GuardContracts {}\nenum InnerContracts {}\n"
    let file = "Tests/Contracts/Tests/ContractsTests/A.swift"
    tree.files[file] = "import VestaAuthInteropContracts\nlet a = AuthContracts.self  // GuardContracts\n"
    #expect(tree.verdict == ["Tests/Contracts/Package.swift:1: seam"])
    tree.files[file]? += "let b = GuardContracts.self\n"
    #expect(tree.verdict == [])
  }
}
