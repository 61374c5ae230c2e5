import Testing
import VestaBytes

@testable import VestaServer

/// Rules of single databases and buckets, as `firebase.json` and `.firebaserc` name them.
@Suite struct NamedRulesTests {
  private static let json = """
    {"firestore":[{"database":"(default)","rules":"a"},{"database":"b","rules":"b"},{"database":"c"}],
     "storage":[{"target":"main","rules":"s"},{"bucket":"x","rules":"x"}],"database":{"instance":"i","rules":"d"}}
    """

  @Test func `names and targets are resolved, and the first entry counts for all others`() throws {
    let configuration = try FirebaseFile(json: Array(Self.json.utf8))
    #expect(configuration.rules == ["firestore": "a", "storage": "s", "database": "d"])
    let targets = FirebaseFile.targets(
      json: Array(#"{"targets":{"p":{"storage":{"main":["m","n"]}}}}"#.utf8), project: "p")
    #expect(
      try configuration.namedRules(targets: targets)
        == [
          "firestore": ["(default)": "a", "b": "b"], "storage": ["m": "s", "n": "s", "x": "x"], "database": ["i": "d"],
        ])
    #expect(throws: ServerError.self) { try configuration.namedRules(targets: [:]) }
  }

  @Test func `files of indexes belong to their databases`() throws {
    let list = #"{"firestore":[{"indexes":"a"},{"database":"b","indexes":"c"},{"database":"d"}]}"#
    #expect(try FirebaseFile(json: Array(list.utf8)).indexes == ["(default)": "a", "b": "c"])
    let one = #"{"firestore":{"rules":"r","indexes":"i"},"storage":{"indexes":"x"}}"#
    #expect(try FirebaseFile(json: Array(one.utf8)).indexes == ["(default)": "i"])
    let comments = "// A comment.\n{\"firestore\":{\"indexes\":\"a//b\"} /* and one more */}"
    #expect(try FirebaseFile(json: Array(comments.utf8)).indexes == ["(default)": "a//b"])
  }

  @Test(arguments: [#"{"firestore":[]}"#, #"{"storage":[1,{"bucket":2,"rules":3}]}"#, #"{"database":"x"}"#])
  func `what is no section of rules is none`(json: String) throws {
    let configuration = try FirebaseFile(json: Array(json.utf8))
    #expect(try configuration.namedRules(targets: [:]).isEmpty && configuration.rules.isEmpty)
  }
}
