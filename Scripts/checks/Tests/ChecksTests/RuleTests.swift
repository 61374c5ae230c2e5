import Testing

@testable import Checks

@Suite final class RuleTests {
  var tree = CleanTree()
  let file = "Packages/Auth/Sources/VestaAuth/A.swift"

  @Test(arguments: [
    ("tools-version: 6.2", "tools-version: 6.1", 1), ("ExistentialAny", "BareSlashRegexLiterals", 4),
    ("// The settings every target is built with.\n", "", 4), (".macOS(.v15)", ".macOS(.v14)", 11),
    (".v6", ".v5", 17), (#"package: "P")], swiftSettings: settings),"#, #"package: "P")]),"#, 14),
  ])
  func aManifestThatDiffersIsFound(old: String, new: String, line: Int) {
    tree.replace("Packages/Auth/Package.swift", old, new)
    #expect(tree.verdict == ["Packages/Auth/Package.swift:\(line): manifest"])
  }

  @Test func `two packages with one folder name are found`() {
    tree.addPackage("Tests/Consumers/core", targets: ["CoreConsumer"])
    #expect(tree.verdict == ["Tests/Consumers/core/Package.swift:1: package"])
  }

  @Test func `a target of C needs no swift settings`() {
    tree.replace("Packages/SQLite/Package.swift", "targets: [", "targets: [\n.target(name: \"CVestaShim\"),")
    tree.files["Packages/SQLite/Sources/CVestaShim/shim.c"] = "int shim;\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: ["README.md", "CHANGELOG.md"])
  func `a package without its papers is found`(paper: String) {
    tree.files["Packages/Auth/\(paper)"] = nil
    #expect(tree.verdict.filter { !$0.hasSuffix(": paths") } == ["Packages/Auth/Package.swift:1: package"])
  }

  @Test(arguments: [
    "import Foundation\n", "#if canImport(FoundationEssentials)\nimport Foundation\n#endif\n",
    "public import struct Foundation.Date\n", "#if DEBUG\n#else\nimport FoundationNetworking\n#endif\n",
  ])
  func `the full Foundation is found where it does not belong`(text: String) {
    tree.files["Interop/AuthInterop/Sources/VestaAuthInterop/A.swift"] = text
    tree.files["Packages/Core/Sources/VestaConcurrency/A.swift"] = text
    tree.files["Packages/Core/Sources/VestaCore/A.swift"] = text
    #expect(tree.verdict.count == 2)
    #expect(tree.verdict.allSatisfy { $0.hasSuffix(": foundation") })
  }

  @Test(arguments: ["let a = Mutex(0)", "let a: Synchronization.Mutex<Int>"])
  func `the standard Mutex is found`(line: String) {
    tree.files[file] = "import Synchronization\n\(line)\nlet b = PlatformMutex()\n"
    #expect(tree.verdict == ["\(file):2: mutex"])
  }

  @Test func `a bare sleep is found, and in the tuning of a plug-in or in a module for tests it is not`() {
    let line = "func wait() async throws { try await Task.sleep(for: .seconds(1)) }\n"
    tree.files[file] = line
    tree.files["Packages/Auth/Sources/VestaAuthService/B.swift"] = "// Task.sleep(for: pause)\n" + line
    tree.files["Packages/Auth/Sources/VestaAuthService/AuthTuning.swift"] = line
    tree.files["Packages/SQLite/Sources/VestaSQLite/C.swift"] = line
    tree.files["Packages/SQLite/Sources/VestaSQLite/StoreTuning.swift"] = line
    tree.files["Packages/SQLite/Sources/VestaSQLiteTesting/D.swift"] = line
    #expect(
      tree.verdict == [
        "\(file):1: sleep", "Packages/Auth/Sources/VestaAuthService/AuthTuning.swift:1: sleep",
        "Packages/Auth/Sources/VestaAuthService/B.swift:2: sleep",
        "Packages/SQLite/Sources/VestaSQLite/C.swift:1: sleep",
      ])
  }

  @Test func `a path divided by characters is found, but not in a module for tests`() {
    let line = "let parts = path.split(separator: \"/\", maxSplits: 1)\n"
    tree.files[file] = line
    tree.files["Packages/SQLite/Sources/VestaSQLite/C.swift"] = "// path.split(separator: \"/\")\n" + line
    tree.files["Packages/SQLite/Sources/VestaSQLiteTesting/D.swift"] = line
    #expect(tree.verdict == ["\(file):1: split", "Packages/SQLite/Sources/VestaSQLite/C.swift:2: split"])
  }

  @Test(arguments: [
    "try await ContinuousClock().sleep(for: .seconds(1))", "queue.asyncAfter(deadline: .now() + 1) {}",
    "try await SuspendingClock().sleep(until: end)", "usleep(1_000)", "Thread.sleep(forTimeInterval: 1)",
    "_ = semaphore.wait(timeout: .now() + 1)",
  ])
  func `other waits of the system in a client are found`(line: String) {
    tree.files[file] = "func wait() async throws { \(line) }\n"
    #expect(tree.verdict == ["\(file):1: sleep"])
  }

  @Test(arguments: [
    "final class A: @unchecked Sendable {}", "nonisolated(unsafe) var a = 0", "let a = unsafeBitCast(b, to: Int.self)",
    "let a = unsafeDowncast(b, to: C.self)", "/// Documentation is no reason.\nnonisolated(unsafe) var a = 0",
    "// A reason.\n\nnonisolated(unsafe) var a = 0",
  ])
  func `an unsafe word without a reason is found`(text: String) {
    tree.files[file] = text + "\n"
    #expect(tree.verdict.map { $0.hasSuffix(": unsafe") } == [true])
    tree.files[file] = text.replacing(/\n*$/, with: "  // Sound: written once before threads start.\n")
    #expect(tree.verdict == [])
  }

  @Test(arguments: [
    "public final class A: @unchecked Sendable {}", "open class A:\n  B, @unchecked Sendable\n{}",
    "public nonisolated(unsafe) var a = 0", "public struct A {}\nextension A: @unchecked Sendable {}",
    "@frozen public struct A<T>: @unchecked Sendable {}",
  ])
  func `an unsafe word on a public name is found despite its reason`(text: String) {
    tree.files[file] = text.replacing("@unchecked Sendable", with: "/* a reason */ @unchecked Sendable")
      .replacing("nonisolated(unsafe)", with: "/* a reason */ nonisolated(unsafe)")
    #expect(tree.verdict.map { $0.hasSuffix(": unsafe") } == [true])
  }

  @Test(arguments: [
    "public struct A {\n  // Why.\n  final class B: @unchecked Sendable {}\n}",
    "public struct A {}\nstruct B {}\n// Why.\nextension B: @unchecked Sendable {}",
    "public let a = 1\n// Why.\nnonisolated(unsafe) let b = 2",
  ])
  func `an unsafe word next to a public name is fine`(text: String) {
    tree.files[file] = text + "\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: ["let a = try! b()", "fatalError(\"no\")", "print(\"\\(try! b())\")"])
  func aTrapIsFoundInSourcesOnly(line: String) {
    tree.files[file] = "\(line)\n"
    tree.files["Packages/Auth/Tests/VestaAuthTests/A.swift"] = "\(line)\n"
    #expect(tree.verdict == ["\(file):1: traps"])
  }

  @Test func `a fatal error with a reason is fine and a try is not`() {
    tree.files[file] = "// Misuse.\nfatalError(a)\n// No reason helps.\ntry! b()\n"
    #expect(tree.verdict == ["\(file):4: traps"])
  }

  @Test(arguments: [
    "func b() async throws { try await a() }", "func b() async throws -> Int {\n  return try await self.a(1)\n}",
    "func b() async throws {\n  if c { return try await owner?.a() }\n  d()\n}",
    "class C {\n  func b() async throws {\n    d()\n    try await a()\n  }\n}",
    "@AuthActor var c = 0\nfunc b() async throws {\n  d()\n  try await a(\n    1)\n}",
  ])
  func `a function that ends with a call of something isolated to an actor is found`(text: String) {
    tree.files[file] = "@AuthActor\nfunc a() async throws {}\n\(text)\n"
    #expect(tree.verdict.map { $0.hasSuffix(": executor") } == [true])
    tree.files[file] = "actor A {\n  func a() async throws {}\n}\n\(text)\n"
    #expect(tree.verdict.map { $0.hasSuffix(": executor") } == [true])
  }

  @Test(arguments: [
    "func b() async throws { do { return try await a() } catch { throw error } }",
    "func b() async throws { try await AuthActor.run { try await self.a() } }",
    "func b() async throws {\n  let c = try await a()\n  d(c)\n}", "func b() async throws { try await e() }",
    "func run(_ c: @AuthActor () async throws -> Int) {}\nfunc b() async throws { try await run(c) }",
    "class D {\n  func a() {}\n  func b() async throws { try await a() }\n}",
    "@AuthActor func b() async throws { try await a() }", "@concurrent\nfunc b() async throws { try await a() }",
  ])
  func `a function that brings failures back to its caller is fine`(text: String) {
    tree.files[file] = "@AuthActor\nfunc a() async throws {}\n\(text)\n"
    #expect(tree.verdict == [])
  }

  @Test func `a long file is found`() {
    tree.files[file] = String(repeating: "// line\n", count: 600)
    #expect(tree.verdict == [])
    tree.files[file]? += "// one more\n"
    #expect(tree.verdict == ["\(file):601: length"])
  }

  @Test(arguments: [
    ("public protocol A {\n  func b()\n}", 2), ("public protocol A {\n  /// B.\n  var b: Int { get }\n  init()\n}", 4),
    ("public protocol A {\n  associatedtype B\n}", 2), ("public enum A {\n  case b\n}", 2),
    ("public indirect enum A: Int,\n  Sendable {\n  case b\n}", 3),
    ("struct C {\n  public enum A {\n    /// B.\n    case b\n    @available(*, deprecated)\n    case c\n  }\n}", 6),
  ])
  func `a member of a public type without documentation is found`(text: String, line: Int) {
    tree.files[file] = text + "\n"
    #expect(tree.verdict == ["\(file):\(line): docs"])
  }

  @Test(arguments: ["import \\(x)/wo\u{72}k/a", "cd /ro\u{6f}t/x", "# at /tm\u{70}/perf/x"])
  func `a path of one machine is found in any file`(line: String) {
    tree.files["Scripts/help"] = "\n\(line)\n"
    #expect(tree.verdict == (line.contains("x)") ? [] : ["Scripts/help:2: words"]))
  }

  @Test func `a violation says where and what to do`() {
    let violation = Violation("A.swift", 7, "law 1", "do this")
    #expect(violation.description == "A.swift:7: law 1: do this")
  }

  @Test func `a comment wider than 120 columns is found, but not a table and not a long word`() {
    let wide = String(repeating: "word ", count: 24) + "word"
    tree.files[file] = "/// \(wide)\n// | \(wide)\n/// https://\(String(repeating: "x", count: 130))\n"
    #expect(tree.verdict == ["\(file):1: width"])
  }

  @Test func `the ground floor uses no Foundation at all`() {
    let text = "#if canImport(FoundationEssentials)\nimport FoundationEssentials\n#endif\n"
    tree.files["Packages/Core/Sources/VestaConcurrency/A.swift"] = text
    tree.files["Packages/Core/Sources/VestaBytes/A.swift"] = text
    #expect(tree.verdict.count == 2)
    #expect(tree.verdict.allSatisfy { $0.hasSuffix(":2: foundation") })
  }

  @Test func `a class hierarchy of upstream's may be unchecked if it only has constants`() {
    let reason = "// Sound: immutable; a class hierarchy of the Firebase SDK cannot be checked.\n"
    let head = reason + "public class Query: @unchecked Sendable {\n"
    tree.files[file] = head + "  let a = 1\n  var b: Int { a }\n  func c() {\n    var d = 1\n  }\n}\nvar e = 1\n"
    #expect(tree.verdict == [])
    tree.files[file] = head + "  let a = 1\n  private var b = 2\n}\n"
    #expect(tree.verdict == ["\(file):2: unsafe"])
    tree.files[file] = "// Sound: restates NSError's.\npublic class A: NSError, @unchecked Sendable {\n  let a = 1\n}\n"
    #expect(tree.verdict == [])
    tree.files[file] = "// Sound: immutable.\npublic class Query: @unchecked Sendable {\n  let a = 1\n}\n"
    #expect(tree.verdict == ["\(file):2: unsafe"])
  }
}

@Suite struct CommentWrappingTests {
  private let words = String(repeating: "word ", count: 26)

  @Test func `text that does not fit continues in the next line of the paragraph`() {
    let text = "  /// \(words)end.\n  /// More of it.\n  let a = 1\n"
    let wrapped = wrappingComments(in: text)
    let lines = wrapped.split(separator: "\n")
    #expect(lines.allSatisfy { $0.count <= 120 })
    #expect(lines[1].hasSuffix("word end. More of it."))
    #expect(lines.count == 3)
    #expect(wrappingComments(in: wrapped) == wrapped)
  }

  @Test func `a list item continues under its text, and the next item stays`() {
    let text = "/// - a: \(words)end.\n/// - b: more.\n"
    let lines = wrappingComments(in: text).split(separator: "\n")
    #expect(lines.count == 3)
    #expect(lines[1].hasPrefix("///   word"))
    #expect(lines[2] == "/// - b: more.")
  }

  @Test func `code blocks, tables and code stay as they are`() {
    let text = "/// ```\n/// \(words)\n/// ```\n/// | \(words)|\nlet a = 1  // \(words)\n"
    #expect(wrappingComments(in: text) == text)
  }
}
