import Testing

@testable import Checks

@Suite struct SourceTextTests {
  @Test(arguments: [
    ("a // b", "a     ", "  // b"), ("a /* b /* c */ d */ e", "a                   e", "  /* b /* c */ d */  "),
    (#"a("b // c")"#, #"a(        )"#, "           "),
    (##"a(#"b"c\(d)"#) // e"##, "a(           )     ", "               // e"),
    (#"a("b\(c("d"))e")"#, #"a(    c(   )   )"#, "                "),
    (#"a("\"") // b"#, "a(    )     ", "        // b"),
  ])
  func codeAndCommentsAreToldApart(text: String, code: String, comment: String) {
    let source = SourceText(text)
    #expect(source.code == [code])
    #expect(source.comments == [comment])
  }

  @Test func `a multi line string is no code`() {
    let source = SourceText("let a = \"\"\"\n  import B \"quoted\" \\(c) // d\n  \"\"\"; import E\n")
    #expect(source.code[1].trimmed == "c")
    #expect(source.imports.map(\.module) == ["E"])
    #expect(source.comments.allSatisfy { $0.trimmed.isEmpty })
  }

  @Test func `lines and columns stay where they are`() {
    let text = "a\n/* é\n */ b \"ü\nc"
    let source = SourceText(text)
    #expect(source.lines.joined(separator: "\n") == text)
    #expect(source.code.map(\.utf8.count) == source.lines.map(\.utf8.count))
    #expect(source.code[3] == "c")
  }

  @Test func `every form of import is read`() {
    let source = SourceText(
      """
      @testable @_spi(Testing) import A
      public import struct B.C
      #if os(Linux)
        import D
      #elseif canImport(E)
        #if F
        #else
          @preconcurrency import E.Sub
        #endif
      #endif
      let important = 1  // import G
      """)
    #expect(source.imports.map(\.module) == ["A", "B", "D", "E"])
    #expect(source.imports.map(\.member) == [nil, "C", nil, "Sub"])
    let conditions = [[], [], ["os(Linux)"], ["canImport(E)", "else of F"]]
    #expect(source.imports.map(\.conditions) == conditions)
  }

  @Test func `a manifest is read with its dependencies and targets`() {
    let manifest = Manifest(
      path: "Packages/A/Package.swift",
      text: """
        let package = Package(
          name: "A", // a note, with a comma
          products: [.library(name: "A", targets: ["A"])],
          dependencies: [.package(name: "Core", path: "../Core"), .package(url: "https://x.y", from: "1.0.0")],
          targets: [
            .target(name: "A", dependencies: [.target(name: "B"), "C"], path: "Code/A"),
            .systemLibrary(name: "C", pkgConfig: "c"),
          ]
        )
        """)
    #expect(manifest.dependencies.map(\.path) == ["../Core", nil])
    #expect(manifest.targets.map(\.name) == ["A", "C"])
    #expect(manifest.targets.map(\.kind) == ["target", "systemLibrary"])
    #expect(manifest.targets.map(\.line) == [6, 7])
    #expect(manifest.targets.map(manifest.sources) == ["Packages/A/Code/A", "Packages/A/Sources/C"])
  }

  @Test func `a broken manifest is reported and does not trap`() {
    var tree = CleanTree()
    for text in ["", "let package = Package(", "Package(targets: [.target(name: \"", ")", "Package(targets: x)"] {
      tree.files["Packages/Auth/Package.swift"] = text
      #expect(tree.verdict.contains("Packages/Auth/Package.swift:1: manifest"))
    }
  }
}
