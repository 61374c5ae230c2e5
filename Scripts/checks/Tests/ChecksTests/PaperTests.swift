import Testing

@testable import Checks

@Suite final class PaperTests {
  var tree = CleanTree()
  let readme = "Packages/Auth/README.md"

  @Test(arguments: [
    "`Sources/VestaAuth/Missing.swift`", "`Missing.swift`", "`Packages/Missing`", "`Tests/Consumers/Missing/`",
    "[text](Missing.md)", "[text](../Firestore/Sources/Missing.swift#L1)", "see `Auth.swift` and `Session/Auth.swift`",
    "`VestaFirestore/Empty.swift`",
  ])
  func `a path that is not there is found`(text: String) {
    tree.files[readme]? += "\n\(text)\n"
    #expect(tree.verdict == ["\(readme):9: paths"])
    tree.files["Tests/Guide.md"] = "\n\(text)\n"
    let exists = text.contains("VestaFirestore/")  // a guide may name the files of any package in short
    #expect(tree.verdict.contains("Tests/Guide.md:2: paths") == !exists)
  }

  @Test(arguments: [
    "`Auth.swift`", "`VestaAuth/Auth.swift`", "`Sources/VestaAuth/Auth.swift`", "`Sources/VestaAuth`", "`Sources/`",
    "`Packages/Firestore`", "`Interop/AuthInterop/Package.swift`", "`Packages/<Name>`", "`Interop/…Backend`",
    "[text](../../Interop/AuthInterop/README.md#words)", "[text](https://example.com/a.md)", "[text](#here)",
    "`swift build`", "`a/b`", "`.swift`", "```\n`Missing.swift`\n```", "``Missing.swift``",
  ])
  func `a path that is there is fine, and so is what is no path`(text: String) {
    tree.files[readme]? += "\n\(text)\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: [
    ".package(path: \"../vesta/Packages/Gone\")", ".package(path: \"../../Interop/Gone\"),",
    ".product(name: \"VestaGone\", package: \"Auth\")", ".product(name: \"VestaFirestore\", package: \"Auth\")",
    ".product(name: \"VestaGone\", package: \"vesta-auth\")",
  ])
  func `a line of a manifest that leads nowhere is found`(text: String) {
    tree.files[readme]? += "\n```swift\n\(text)\n```\n"
    #expect(tree.verdict == ["\(readme):10: line"])
  }

  @Test(arguments: [
    ".package(path: \"../vesta/Packages/Auth\")", ".package(path: \"Vendor/vesta-auth\")",
    ".package(url: \"https://x\")",
    ".product(name: \"VestaAuthService\", package: \"Auth\")", ".product(name: \"VestaAuth\", package: \"vesta-auth\")",
  ])
  func `a line of a manifest that leads somewhere is fine`(text: String) {
    tree.files[readme]? += "\n```swift\n\(text)\n```\n"
    #expect(tree.verdict == [])
  }

  @Test func `a changelog may name deleted files`() {
    tree.files["Packages/Auth/CHANGELOG.md"]? += "`Sources/VestaAuth/Gone.swift`\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: [
    ("## Not there yet\n", "", 1), ("## Where to start reading", "## Reading", 1), ("`Package.swift`, ", "", 5),
    ("`Package.swift`", "`README.md`", 5),
  ])
  func `a README that does not lead in is found`(old: String, new: String, line: Int) {
    tree.replace(readme, old, new)
    #expect(tree.verdict == ["\(readme):\(line): package"])
  }

  @Test func `a package that the root README does not draw is found`() {
    tree.files["README.md"] = "Core, AuthInterop, CryptoInterop, Auth, SQLite, FirestoreBackend, Notes, Shop\n"
    #expect(tree.verdict == ["README.md:1: package"])
    tree.files["README.md"]? += "Firestore\n"
    #expect(tree.verdict == [])
  }

  @Test func `a package of tests needs no such README`() {
    tree.files["Tests/Consumers/AuthConsumer/README.md"] = "# A consumer\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: [
    ("/// What it is.\npublic struct A {}", 1), ("/// Who asks.\n@frozen\npublic enum A {}", 1),
    ("/// A.\npublic enum A {\n  /// Those.\n  case b\n}", 3),
    ("/// A.\npublic protocol A {\n  /// Whose it is.\n  /// More.\n  func b()\n}", 3),
    ("/// A.\npublic struct A {\n  /// Whom to ask.\n  public var b = 1\n}", 3),
    ("/// What it is.\nopen class A {}", 1),
  ])
  func `a summary of a public name that is a relative clause is found`(text: String, line: Int) {
    let file = "Packages/Auth/Sources/VestaAuth/A.swift"
    tree.files[file] = text + "\n"
    #expect(summariesNameTheThing(House(Tree(tree.files))).map { "\($0.path):\($0.line)" } == ["\(file):\(line)"])
  }

  @Test(arguments: [
    "/// What it is.\nstruct A {}", "/// The name.\n/// What it is.\npublic struct A {}",
    "/// Whatever.\npublic let a = 1",
    "enum A {\n  /// What it is.\n  case b\n}", "// What it is.\npublic let a = 1",
  ])
  func `other comments are left to their readers`(text: String) {
    tree.files["Packages/Auth/Sources/VestaAuth/A.swift"] = text + "\n"
    #expect(summariesNameTheThing(House(Tree(tree.files))).isEmpty)
  }
}
