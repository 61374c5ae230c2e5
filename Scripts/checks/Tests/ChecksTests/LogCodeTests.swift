import Testing

@testable import Checks

@Suite final class LogCodeTests {
  var tree = CleanTree()
  let file = "Packages/Auth/Sources/VestaAuth/B.swift"

  @Test func `a log code of two files is found`() {
    tree.files[file] = "/// \"I-AUT000002\" is another one.\nlet d = log(\"I-AUT000001\")\n"
    tree.files[CleanTree.logs]? += "let b = log(\"I-AUT000001\")\n"
    #expect(tree.verdict == ["\(CleanTree.logs):1: log-code", "\(CleanTree.logs):2: log-code"])
  }

  @Test func `letters of two modules are found`() {
    tree.files["Packages/Auth/Sources/VestaAuthService/B.swift"] = "let a = log(\"I-AUT000002\")\n"
    let docs = "Packages/Auth/Sources/VestaAuthService/VestaAuthService.docc"
    tree.files["\(docs)/LogCodes.md"] = "| `I-AUT000002` | info | No. | Ask. |\n"
    tree.files["\(docs)/VestaAuthService.md"] = "<doc:LogCodes>\n"
    #expect(tree.verdict == ["Packages/Auth/Sources/VestaAuthService/B.swift:1: log-code"])
  }

  @Test(arguments: ["Auth/Sources/VestaAuth", "Shop/Sources/shop"])
  func `a code without a row is found, in programs too`(folder: String) {
    let file = "Packages/\(folder)/B.swift"
    tree.files[file] = "let a = 1\nlet b = [\"I-XYZ000002\", \"I-XYZ000003\"]\n"
    let found = tree.verdict.filter { $0 == "\(file):2: log-code" }
    #expect(found.count == 2)
  }

  @Test func `a row that no message uses is found`() {
    tree.files[CleanTree.table]? += "| `I-AUT000002` | info | Gone. | Nothing. |\n"
    #expect(tree.verdict == ["\(CleanTree.table):3: log-code"])
    tree.files[CleanTree.table] = nil
    tree.files[CleanTree.logs] = nil
    tree.files["Packages/Auth/Sources/VestaAuthService/VestaAuthService.docc/LogCodes.md"] =
      "| `I-AUT000001` | info | No. | A. |\n"
    #expect(tree.verdict.count == 1)
  }

  @Test(arguments: [
    "| `I-AUT000001` | error | No. |", "| `I-AUT000001` | fatal | No. | Ask. |", "| `I-AUT000001` | error | | Ask. |",
  ])
  func `a row that does not say level, message and cure is found`(row: String) {
    tree.files[CleanTree.table] = "\(row)\n"
    #expect(tree.verdict == ["\(CleanTree.table):1: log-code"])
  }

  @Test func `a table that its landing page does not link is found`() {
    tree.files["Packages/Auth/Sources/VestaAuth/VestaAuth.docc/VestaAuth.md"] = "- <doc:ErrorCodes>\n"
    #expect(tree.verdict == ["Packages/Auth/Sources/VestaAuth/VestaAuth.docc/VestaAuth.md:1: log-code"])
  }
}
