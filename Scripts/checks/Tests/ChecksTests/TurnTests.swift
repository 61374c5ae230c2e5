import Testing

@testable import Checks

/// Texts, comments and names with the turns that a reader has to read twice.
@Suite final class TurnTests {
  var tree = CleanTree()
  let source = "Packages/Auth/Sources/VestaAuth/A.swift"
  let readme = "Packages/Auth/README.md"
  let test = "Packages/Auth/Tests/VestaAuthTests/ATests.swift"

  /// Some comments, or some lines of a text, of which none has a turn.
  private func plain(_ count: Int, _ mark: String = "// ") -> String {
    String(repeating: "\(mark)The number of rows.\n", count: count)
  }

  @Test(arguments: [
    "nobody reads it", "it is not there any more", "the next page comes", "pages come in order", "a lock of its own",
    "Those that match", "It ends. What is left is kept.", "What is left is kept.",
  ])
  func `a package with too many turns in its comments is found`(turn: String) {
    tree.files[source] = plain(198) + "// \(turn)\n// \(turn)\nlet a = \"nobody\"\n"
    #expect(tree.verdict == [])
    tree.files[source]? += "/// \(turn).\n/// \(turn).\nlet b = 1  // \(turn)\n"
    #expect(tree.verdict == ["\(source):199: turns"])
  }

  @Test(arguments: [
    "What is left is kept.", "It says what is left.", "- What is left", "| nobody | reads |", "It came.",
  ])
  func `a package with too many turns in its texts is found`(turn: String) {
    let guide = "Packages/Auth/Sources/VestaAuth/VestaAuth.docc/Guide.md"
    let isTurn = !turn.contains("says")
    tree.files[readme]? += plain(190, "") + "\n\(turn)\n"
    tree.files[guide] = "\(turn)\n\(turn)\n"
    #expect(tree.verdict == [])
    tree.files[guide]? += "\(turn)\n"
    #expect(tree.verdict == (isTurn ? ["\(readme):199: turns"] : []))
  }

  @Test func `code, words in backticks and changelogs may have turns`() {
    let turns = String(repeating: "nobody\n", count: 9)
    tree.files[readme]? += "```\n\(turns)```\n`nobody`, `goes on` and ``whoever``\n`nobody`\n"
    tree.files["Packages/Auth/CHANGELOG.md"]? += turns
    #expect(tree.verdict == [])
  }

  @Test func `texts outside of packages are counted together`() {
    tree.files["Packages/README.md"] = "Nobody.\n"
    #expect(tree.verdict == [])
    tree.files["Tests/README.md"] = "Nobody.\n"
    #expect(tree.verdict == ["Packages/README.md:1: turns"])
    tree.files["Tests/README.md"] = nil
    tree.files["Tests/Consumers/AuthConsumer/README.md"] = "Nobody.\n"
    #expect(tree.verdict == [])
  }

  @Test func `a package with too many turns in the comments of its tests is found`() {
    tree.files[test] = plain(97) + "// Nobody.\n// It goes.\n// It came.\nlet a = \"nobody\"\n"
    #expect(tree.verdict == [])
    tree.files[test]? += "// It is gone.\n"
    #expect(tree.verdict == ["\(test):98: turns"])
  }

  @Test func `a package with too many turns in the names of its tests is found`() {
    let names = (0..<97).map { "@Test func `the number \($0) is even`() {}\n" }.joined()
    tree.files[test] =
      names + (0..<3).map { "@Test func `number \($0) goes on`() {}\n" }.joined() + "let `nobody` = 1\n"
    #expect(tree.verdict == [])
    tree.files[test]? += "@Test func `nobody waits`() {}\n"
    #expect(tree.verdict == ["\(test):98: turns"])
  }

  @Test func `the sources of a package of tests are tests`() {
    let file = "Tests/Consumers/AuthConsumer/Sources/AuthConsumer/A.swift"
    tree.files[file] = plain(97) + "// Nobody.\n// It goes.\n// It came.\n"
    #expect(tree.verdict == [])
    tree.files[file]? += "// It is gone.\n// It is gone.\n"
    #expect(tree.verdict == ["\(file):98: turns"])
  }
}
