import Testing
import VestaBytes
import VestaDatabaseModel

@Suite struct RulesTextTests {
  @Test func `a text is read as the compiler of rules reads it`() throws {
    let text = """
      // all
      {"rules": {"a": /* 1 */ [1, -2.5, true, null, "x"], "b\\u0041\\ud83d\\ude00": "one
      two \\"\\\\\\/ // no comment",
      "twice": 1, "twice": {"c": false,},},} /**/
      """
    let rules: JSONValue = [
      "rules": [
        "a": [1, -2.5, true, nil, "x"], "bA😀": "one\ntwo \"\\/ // no comment", "twice": ["c": false],
      ]
    ]
    #expect(try RulesText.read(text) == rules)
    #expect(try RulesText.read("{}") == [:])
    #expect(try RulesText.read(" [] ") == .array([]))
  }

  @Test(arguments: [
    "", "{", "{,}", "[1,]", #"{"a":1,,}"#, #"{"a" 1}"#, "{a:1}", "{'a':1}", "{} {}", "{/*}", "/*/", #"{"a":"\d"}"#,
    #"{"a":"\u12"}"#, #"{"a":"\u+123"}"#, #"{"a":tru}"#, #"{"a":+1}"#, #"{"a":"b}"#, "{\"a\":\"\\", "1 /",
  ])
  func `other texts are refused`(_ text: String) {
    #expect(throws: BytesError.self) { try RulesText.read(text) }
  }

  @Test func `levels are bounded`() throws {
    func nested(_ count: Int) -> String { String(repeating: "[", count: count) + String(repeating: "]", count: count) }
    #expect(throws: Never.self) { try RulesText.read(nested(100)) }
    #expect(throws: BytesError.self) { try RulesText.read(nested(101)) }
    // No stack overflows.
    #expect(throws: BytesError.self) { try RulesText.read(nested(100_000)) }
  }
}
