import Testing
import VestaBytes

@Suite struct PlacedJSONTests {
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
    #expect(try PlacedJSON(text: Array(text.utf8)).value == rules)
    #expect(try PlacedJSON(text: Array("{}".utf8)).value == [:])
    #expect(try PlacedJSON(text: Array(" [] ".utf8)).value == .array([]))
  }

  @Test(arguments: [
    "", "{", "{,}", "[1,]", #"{"a":1,,}"#, #"{"a" 1}"#, "{a:1}", "{'a':1}", "{} {}", "{/*}", "/*/", #"{"a":"\d"}"#,
    #"{"a":"\u12"}"#, #"{"a":"\u+123"}"#, #"{"a":tru}"#, #"{"a":+1}"#, #"{"a":"b}"#, "{\"a\":\"\\", "1 /",
  ])
  func `other texts are refused`(_ text: String) {
    #expect(throws: PlacedJSON.Failure.self) { try PlacedJSON(text: Array(text.utf8)).value }
  }

  @Test func `every part has the place where it is in the text`() throws {
    let text = Array(#" {"é": ["a\u0041b", true], "n": -1, "n": null}"#.utf8)
    guard case .object(let members, 1) = try PlacedJSON(text: text) else { return #expect(Bool(false), "no object") }
    #expect(members.map(\.name) == ["é", "n", "n"])
    #expect(members.map(\.at) == [2, 28, 37])
    #expect(members.map(\.value.at) == [8, 33, 42])
    guard case .array(let elements, _) = members[0].value, case .string(let bytes, let places, 9) = elements[0] else {
      return #expect(Bool(false), "no string")
    }
    #expect(bytes == Array("aAb".utf8))
    #expect(places == [10, 11, 17])
  }

  @Test func `a failure names the first byte that cannot be read`() {
    for (text, place) in [("{\"a\":1,,}", 7), ("[1 2]", 3), ("{} x", 3), ("\"a", 2), ("[/* ", 1), ("[tru]", 1)] {
      #expect(place == failure(text), "\(text)")
    }
  }

  private func failure(_ text: String) -> Int? {
    do throws(PlacedJSON.Failure) { _ = try PlacedJSON(text: Array(text.utf8)) } catch { return error.at }
    return nil
  }

  @Test func `levels are bounded`() throws {
    func nested(_ count: Int) -> String { String(repeating: "[", count: count) + String(repeating: "]", count: count) }
    #expect(throws: Never.self) { try PlacedJSON(text: Array(nested(100).utf8)).value }
    #expect(throws: PlacedJSON.Failure.self) { try PlacedJSON(text: Array(nested(101).utf8)).value }
    // No stack overflows.
    #expect(throws: PlacedJSON.Failure.self) { try PlacedJSON(text: Array(nested(100_000).utf8)).value }
  }
}
