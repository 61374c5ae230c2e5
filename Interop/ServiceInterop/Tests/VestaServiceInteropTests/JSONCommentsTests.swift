import Testing
import VestaServiceInterop

/// Comments of JSON files.
@Suite struct JSONCommentsTests {
  @Test(arguments: [
    ("{}", "{}"), ("", ""), ("/", "/"), ("{// a\n}", "{ \n}"), ("{}// a", "{} "), ("{/* * / */}", "{ }"),
    ("{} /*", "{}  "), (#"{"a//b": "/* \\" */"}"#, #"{"a//b": "/* \\" */"}"#), (#"["\\", /**/ 1]"#, #"["\\",   1]"#),
    (#"["a"#, #"["a"#), (#"["\"#, #"["\"#), ("[1 / 2]", "[1 / 2]"),
  ])
  func `comments are removed, and strings stay`(text: String, plain: String) {
    #expect(String(decoding: JSONComments.removed(from: Array(text.utf8)), as: UTF8.self) == plain)
  }
}
