import Testing
import VestaPatterns

@Suite struct PatternTests {
  @Test(arguments: [
    ("hello", "hello", true), ("world", "hello world", false), (".*world", "hello world", true),
    ("[a-z]+[0-9]+", "abc123", true), ("[a-z]+[0-9]+", "abc123!", false), ("^phase[0-9]$", "phase3", true),
    ("^$", "", true), ("", "", true), ("", "a", false), ("a|b|", "", true), ("(?:a|ab)(?:c|bcd)", "abcd", true),
    ("a{2,3}", "a", false), ("a{2,3}", "aaa", true), ("a{2,3}", "aaaa", false), ("a{,3}", "a{,3}", true),
    ("(?i)straße", "STRAßE", true), ("(?i)k", "\u{212A}", true), (".", "\n", false), ("(?s).", "\n", true),
    ("\\d+\\.\\d*", "12.", true), ("\\p{Lu}\\p{Ll}+", "Éa", true), ("\\pN", "٣", true), ("[^\\W_]+", "a1", true),
    ("[[:alpha:]]+", "abc", true), ("[]a]+", "]a]", true), ("\\Qa.b\\E+", "a.bb", true),
    ("\\x41\\x{1F600}", "A😀", true),
    ("\\bfoo\\b", "foo", true), ("a\\Bb", "ab", true), ("(?m)^a$\\n^b$", "a\nb", true), ("a$b", "ab", false),
    ("[a-c\\-]+", "a-c", true), ("x*?y", "xxy", true), ("(?P<name>a)(?<other>b)", "ab", true), ("(?i:a)b", "Ab", true),
    ("(?i:a)b", "AB", false), ("\\101\\0", "A\0", true), ("é", "e\u{301}", false),
  ])
  func `a pattern matches whole strings as RE2 does`(expression: String, text: String, expected: Bool) throws {
    let pattern = try Pattern(expression)
    #expect(pattern.matchesWhole(text) == expected)
    let withoutTable = try Pattern(expression, isReused: false)
    #expect(withoutTable.matchesWhole(text) == expected)
  }

  @Test(arguments: [
    "(", ")", "a)", "[", "[b-a]", "*a", "a**", "(?=a)", "(?!a)", "(?<=a)", "(a)\\1", "\\", "\\y", "a{1001}", "(?z)",
    "\\p{Nope}", "\\xZ", "[[:nope:]]", "a{3,2}", "(?P<>a)", "\\C",
  ])
  func `what RE2 does not have is refused with a reason`(expression: String) {
    #expect(throws: PatternError.self) { try Pattern(expression) }
  }

  @Test func `an expression that is too large or too deep is refused`() {
    #expect(throws: PatternError.self) { try Pattern("((a{100}){100}){100}") }
    #expect(throws: PatternError.self) { try Pattern(String(repeating: "(", count: 100_000)) }
    let distinct = (0..<2_000).map { String(Unicode.Scalar(0x4E00 + $0 * 2)!) }.joined()
    #expect(throws: PatternError.self) { try Pattern(distinct) }
  }

  @Test func `parts are found from left to right, the preferred one first`() throws {
    #expect(try Pattern("a|ab").matches(in: "abab", maximumSteps: 1_000) == [0..<1, 2..<3])
    #expect(try Pattern("b*").matches(in: "abc", maximumSteps: 1_000) == [0..<0, 1..<2, 2..<2, 3..<3])
    #expect(try Pattern("a+?").matches(in: "aa", maximumSteps: 1_000) == [0..<1, 1..<2])
    #expect(try Pattern("x").isFound(in: "axb"))
    // A round that takes nothing is preferred where it stands first, in both kinds of loop.
    for loop in ["(|a)*", "(|a)+"] {
      #expect(try Pattern(loop).matches(in: "aa", maximumSteps: 1_000) == [0..<0, 1..<1, 2..<2])
    }
  }

  @Test func `the time does not grow with the ways through an expression`() throws {
    let text = String(repeating: "a", count: 1 << 16)
    // Without a table the machine runs: 2^65536 ways for a search that backtracks.
    for isReused in [true, false] {
      #expect(try !Pattern("(a*)*b", isReused: isReused).matchesWhole(text))
      #expect(try !Pattern("(a|aa)+b", isReused: isReused).matchesWhole(text))
    }
    #expect(try Pattern("x*y|x").matches(in: String(repeating: "x", count: 100_000), maximumSteps: 1 << 20) == nil)
  }
}
