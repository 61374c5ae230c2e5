import Testing

@testable import Checks

@Suite final class ShapeTests {
  var tree = CleanTree()
  private let folder = "Packages/Auth/Sources/VestaAuthService"

  /// Files that use each other in one cycle.
  private func plant(_ count: Int, use: (Int) -> String = { "T\($0)" }) {
    for number in 0..<count {
      tree.files["\(folder)/F\(number).swift"] = "struct T\(number) { func a(_ b: \(use((number + 1) % count))) {} }\n"
    }
  }

  @Test func `a cycle of eight files is found, and one of seven is not`() {
    plant(7)
    #expect(tree.verdict == [])
    plant(8)
    #expect(tree.verdict == ["\(folder)/F0.swift:1: circle"])
    let sentence = check(Tree(tree.files)).first?.message ?? ""
    #expect(sentence.hasPrefix("8 files use each other") && sentence.contains("F7.swift"))
  }

  @Test func `two cycles that meet in one file are one`() {
    for number in 0..<4 {
      tree.files["\(folder)/A\(number).swift"] = "struct A\(number) { var next: [A\((number + 1) % 4)] }\n"
      tree.files["\(folder)/B\(number).swift"] = "struct B\(number) { var next: [B\((number + 1) % 4)] }\n"
    }
    #expect(tree.verdict == [])
    tree.replace("\(folder)/A3.swift", "var next", "var b: [B0], next")
    tree.replace("\(folder)/B3.swift", "var next", "var a: [A0], next")
    #expect(tree.verdict == ["\(folder)/A0.swift:1: circle"])
  }

  @Test(arguments: ["Other.T", "\"T", "/* T", "t"])
  func `a qualified name, a text and a comment are no use`(prefix: String) {
    plant(8) { number in
      guard number == 0 else { return "T\(number)" }
      if prefix.hasPrefix("\"") { return "Int = \(prefix)0\".count" }
      return prefix.hasPrefix("/*") ? "Int \(prefix)0 */" : prefix + "0"
    }
    #expect(tree.verdict == [])
  }

  @Test func `files of two modules, a chain, and a name that two files declare make no cycle`() {
    plant(8)
    tree.files["\(folder)/F7.swift"] = nil
    tree.files["Packages/Auth/Sources/VestaAuth/F7.swift"] = "struct T7 { var a: [T0] }\n"
    #expect(tree.verdict == [])
    plant(8)
    tree.files["\(folder)/F7.swift"] = "struct T7 {}\n"
    tree.files["Packages/Auth/Sources/VestaAuth/F7.swift"] = nil
    #expect(tree.verdict == [])
    plant(8)
    tree.files["\(folder)/G.swift"] = "enum T0 {}\n"
    #expect(tree.verdict == [])
    tree.files["\(folder)/G.swift"] = "private enum T0 {}\n"
    #expect(tree.verdict == ["\(folder)/F0.swift:1: circle"])
  }

  /// A type with members of all kinds, in its declaration and in an extension.
  private func type(_ count: Int, access: String = "") -> String {
    let kinds = [
      "let a", "var a: Int { 0 }", "func a() {}", "static func a() {}", "init(a: Int) {}",
      "subscript(a: Int) -> Int { 0 }", "private(set) var a = 0", "@available(*, deprecated) lazy var a = 0",
      "mutating func a() {\n    let b = 1\n  }",
    ]
    func members(_ range: Range<Int>) -> String {
      range.map { "  \(access)\(kinds[$0 % kinds.count])\n" }.joined()
    }
    return "// A type.\n\(access)final class Big {\n\(members(0..<30))}\nextension Big {\n\(members(30..<count))}\n"
  }

  @Test func `a type of more than sixty members is found, and its extensions count`() {
    tree.files["\(folder)/Big.swift"] = type(60)
    #expect(tree.verdict == [])
    tree.files["\(folder)/Big+More.swift"] = "extension Big { \n  func more() {}\n}\n"
    #expect(tree.verdict == ["\(folder)/Big.swift:2: members"])
    #expect(check(Tree(tree.files)).first?.message == "split Big: 61 members are more than 60")
  }

  @Test func `named constants, cases and nested types are no members`() {
    let constants = (0..<70).map { "  static let a\($0) = 0\n  case b\($0)\n" }.joined()
    let nested = "  struct C {\n" + String(repeating: "    var a = 0\n", count: 70) + "  }\n"
    tree.files["\(folder)/Big.swift"] = "enum Big {\n\(constants)\(nested)}\n"
    #expect(tree.verdict == [])
  }

  @Test func `public members of a public type of a client are the SDK's and do not count, others do`() {
    let client = "Packages/Auth/Sources/VestaAuth/Big.swift"
    tree.files[client] = type(80, access: "public ")
    #expect(tree.verdict == [])
    tree.files[client] = type(80, access: "public ").replacing("public final class", with: "final class")
    #expect(tree.verdict == ["\(client):2: members"])
    tree.files[client] = type(80, access: "public ") + type(80).replacing("final class", with: "extension")
    #expect(tree.verdict == ["\(client):2: members"])
    tree.files[client] = nil
    tree.files["\(folder)/Big.swift"] = type(80, access: "public ")
    #expect(tree.verdict == ["\(folder)/Big.swift:2: members"])
  }
}
