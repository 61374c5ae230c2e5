import Checks
import Testing

@testable import Export

@Suite struct ExportTests {
  private var tree = Tree([:])

  init() {
    plant("Packages/Core")
    plant("Interop/DeepInterop")
    plant("Interop/SeamInterop", ["../DeepInterop"])
    plant("Packages/RemotePlant", ["../Core", "../../Interop/SeamInterop"])
    plant("Packages/Outlaw", ["../RemotePlant"])
    plant("Packages/Program", ["../RemotePlant"], comment: "// A composition root: a program.\n")
  }

  private mutating func plant(_ folder: String, _ needs: [String] = [], comment: String = "") {
    let name = folder.split(separator: "/").last ?? ""
    let dependencies = needs.map { "    .package(path: \"\($0)\"),\n" }.joined()
    let products = needs.map { need in
      let other = need.split(separator: "/").last ?? ""
      return "        .product(name: \"Vesta\(other)\", package: \"\(other)\"),\n"
    }.joined()
    tree.files[folder + "/Package.swift"] = """
      // swift-tools-version: 6.2
      import PackageDescription

      \(comment)let package = Package(
        name: "\(name)",
        platforms: [.macOS(.v15)],
        products: [
          // The one that matters.
          .library(name: "Vesta\(name)", targets: ["Vesta\(name)"]),
          .library(name: "CVesta\(name)", targets: ["CVesta\(name)"]),
          .library(name: "Vesta\(name)Fakes", targets: ["Vesta\(name)Fakes"])
        ],
        dependencies: [
      \(dependencies)  ],
        targets: [
          .target(
            name: "Vesta\(name)",
            dependencies: [
      \(products)      ]
          ),
          .testTarget(name: "Vesta\(name)Tests")
        ],
        swiftLanguageModes: [.v6]
      )

      """
  }

  @Test func `a package brings everything that it needs, once`() throws {
    let export = try Export(tree, ["RemotePlant", "RemotePlant", "Core"])
    #expect(export.packages.map(\.name) == ["RemotePlant", "Core", "SeamInterop", "DeepInterop"])
    #expect(export.wanted == 2)
    #expect(
      export.packages.map(\.identity)
        == ["vesta-remote-plant", "vesta-core", "vesta-seam-interop", "vesta-deep-interop"])
  }

  @Test func `the manifest of a copy names copies alone`() throws {
    let text = try Export(tree, ["RemotePlant"]).manifestOfCopy(Export.Package(folder: "Packages/RemotePlant"))
    #expect(text.contains(#".package(path: "../vesta-core"),"#))
    #expect(text.contains(#".package(path: "../vesta-seam-interop"),"#))
    #expect(text.contains(#".product(name: "VestaSeamInterop", package: "vesta-seam-interop"),"#))
    #expect(text.contains(#"name: "RemotePlant","#))
    #expect(!text.contains("../.."))
  }

  @Test func `a package that needs a product is refused, and a composition root brings it along`() throws {
    let failure = #expect(throws: ExportFailure.self) { try Export(tree, ["Outlaw"]) }
    #expect(failure?.description.contains("breaks law 1") == true)
    #expect(try Export(tree, ["Program"]).packages.map(\.name).contains("RemotePlant"))
  }

  @Test(arguments: ["../Core", "", ".git", "Packages/Core"])
  func `a name that is a path is misuse`(name: String) {
    #expect(throws: ExportFailure("", isMisuse: true)) { try Export(tree, [name]) }
  }

  @Test func `an unknown name and a missing dependency are said`() {
    let unknown = #expect(throws: ExportFailure.self) { try Export(tree, ["Nothing"]) }
    #expect(unknown?.description.hasPrefix("There is no package 'Nothing'. Known: Core Outlaw Program") == true)
    var broken = tree
    broken.files["Interop/DeepInterop/Package.swift"] = nil
    let missing = #expect(throws: ExportFailure.self) { try Export(broken, ["SeamInterop"]) }
    #expect(missing?.description == "Interop/SeamInterop/Package.swift depends on ../DeepInterop, which is not there.")
  }

  @Test func `one package has the targets of all, and neither tests nor products of C`() throws {
    let text = try Export(tree, ["RemotePlant"]).manifestOfRepository(named: "vesta-small")
    #expect(text.contains("  name: \"vesta-small\",\n  platforms: [.macOS(.v15)],\n  products: [\n    // The one that"))
    #expect(text.components(of: ".library(name: \"Vesta") == 8)
    #expect(!text.contains("CVesta") && !text.contains("testTarget") && !text.contains(".product("))
    #expect(text.contains("        \"VestaCore\",\n        \"VestaSeamInterop\",\n"))
    #expect(text.hasSuffix("  ],\n  swiftLanguageModes: [.v6]\n)\n"))
  }

  @Test func `the lines for a manifest leave out what is for tests`() throws {
    let lines = try Export(tree, ["Core"]).usageOfRepository(named: "vesta-small", version: "1.2.0")
    #expect(
      lines == [
        "  .package(url: \"…/vesta-small.git\", from: \"1.2.0\"),",
        "  .product(name: \"VestaCore\", package: \"vesta-small\"),",
      ])
  }

  @Test func `the lines for copies name every library of a program`() throws {
    var tree = tree
    let core = tree.files["Packages/Core/Package.swift"]
    tree.files["Packages/Core/Package.swift"] = core?.replacing(
      "    // The one that matters.\n", with: "    .library(name: \"VestaFiles\", targets: [\"VestaFiles\"]),\n")
    #expect(
      try Export(tree, ["Core"]).usageOfCopies(in: "Vendor") == [
        "  .package(path: \"Vendor/vesta-core\"),",
        "  .product(name: \"VestaFiles\", package: \"vesta-core\"),",
        "  .product(name: \"VestaCore\", package: \"vesta-core\"),",
      ])
  }

  @Test func `an array of one element may stand on one line`() {
    var reader = ElementReader(array: "products")
    let goesOn = reader.read("  products: [.library(name: \"A\", targets: [\"A\"])],")
    #expect(!goesOn)
    #expect(reader.elements == ["    .library(name: \"A\", targets: [\"A\"]),"])
  }

  @Test func `a README is embedded without links and without examples of manifests`() {
    let text = """
      # Core

      See [the law](../LAW.md), [a page](https://example.com/).


      ```swift
      .package(path: "Packages/Core"),
      ```
      ```swift
      import VestaCore
      ```

      """
    let expected = """
      ## Core

      See the law, [a page](https://example.com/).

      ```swift
      import VestaCore
      ```

      """
    #expect(ReadmeText.embedded(text) == expected)
  }
}

extension String {
  fileprivate func components(of text: String) -> Int { ranges(of: text).count }
}
