import Testing

@testable import Checks

@Suite final class ErrorCodeTests {
  var tree = CleanTree()

  @Test(arguments: [
    "  case denied = 7", "  public static let denied = Self(7, \"denied\", \"No.\")",
    "  public static let denied = Self(\n    7, \"denied\", \"No.\")",
    "  public static let denied = Self(\"was-denied\")",
  ])
  func `a code without a row is found, in each form`(declaration: String) {
    tree.replace(CleanTree.errors, "}\n", "\(declaration)\n}\n")
    #expect(tree.verdict == ["\(CleanTree.errors):3: error-code"])
    let number = declaration.contains("was-denied") ? "was-denied" : "7"
    tree.files[CleanTree.errorTable]? += "| \(number) | `denied` | The rules. | Ask. | no |\n"
    #expect(tree.verdict == [])
  }

  @Test(arguments: ["| 8 | `internal` | A fault. | Report it. | no |", "| -7 | `other` | A fault. | Report it. | no |"])
  func `a row with another number or name than the code is found`(row: String) {
    tree.files[CleanTree.errorTable]? += "\(row)\n"
    #expect(tree.verdict == ["\(CleanTree.errorTable):3: error-code"])
  }

  @Test(arguments: ["| A fault. | no |", "| A fault. | Report it. | perhaps |", "| A fault. | | no |"])
  func `a row that does not say cause, remedy and repetition is found`(cells: String) {
    tree.files[CleanTree.errorTable] = "| -7 | `internal` \(cells)\n"
    #expect(tree.verdict == ["\(CleanTree.errorTable):1: error-code"])
  }

  @Test func `a table that is absent, or that its landing page does not link, is found`() {
    tree.files["Packages/Auth/Sources/VestaAuth/VestaAuth.docc/VestaAuth.md"] = "- <doc:LogCodes>\n"
    #expect(tree.verdict == ["Packages/Auth/Sources/VestaAuth/VestaAuth.docc/VestaAuth.md:1: error-code"])
    tree.files[CleanTree.errorTable] = nil
    #expect(tree.verdict == ["\(CleanTree.errors):2: error-code"])
  }

  @Test func `codes of an engine and values that are no codes need no row`() {
    tree.files["Packages/Auth/Sources/VestaAuthService/ServiceErrorCode.swift"] =
      "enum Code: Int {\n  case gone = 1\n}\n"
    tree.files["Packages/Auth/Sources/VestaAuth/Kinds.swift"] = "enum Code: Int {\n  case first = 1\n}\n"
    #expect(tree.verdict == [])
  }
}
