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
    ("(?i:a)b", "AB", false), ("\\101\\0", "A\0", true), ("é", "e\u{301}", false), ("a$^", "a", false),
    ("a*$^", "", true), ("a*$^", "a", false), ("a$\\z", "a", true), ("\\A^a", "a", true),
    ("\\x{10FFFF}", "\u{10FFFF}", true), ("\\x{10FFFF}", "\u{10FFFE}", false), ("[^\\x{10FFFF}]", "\u{10FFFF}", false),
  ])
  func `a pattern matches whole strings as RE2 does`(expression: String, text: String, expected: Bool) throws {
    let pattern = try Pattern(expression)
    #expect(pattern.matchesWhole(text) == expected)
    let withoutTable = try Pattern(expression, isReused: false)
    #expect(withoutTable.matchesWhole(text) == expected)
  }

  /// The classes of ASCII, from their definitions in characters.
  @Test(arguments: [
    ("\\d", "0123456789"), ("\\s", "\t\n\u{C}\r "), ("\\w", "0-9A-Z_a-z"), ("[[:alnum:]]", "0-9A-Za-z"),
    ("[[:alpha:]]", "A-Za-z"), ("[[:blank:]]", "\t "), ("[[:cntrl:]]", "\0-\u{1F}\u{7F}"), ("[[:digit:]]", "0-9"),
    ("[[:graph:]]", "!-~"), ("[[:lower:]]", "a-z"), ("[[:print:]]", " -~"), ("[[:punct:]]", "!-/:-@\\[-`{-~"),
    ("[[:space:]]", "\t-\r "), ("[[:upper:]]", "A-Z"), ("[[:word:]]", "0-9A-Z_a-z"), ("[[:xdigit:]]", "0-9A-Fa-f"),
    ("[[:ascii:]]", "\0-\u{7F}"), ("\\v", "\u{B}"), ("\\f", "\u{C}"), ("\\a", "\u{7}"), ("\\t", "\t"), ("\\r", "\r"),
    ("\\n", "\n"),
  ])
  func `a class of ASCII has its characters and no other, and its negation the others`(
    expression: String, characters: String
  ) throws {
    let members = scalars(characters)
    let negated = expression.contains("[:") ? expression.replacing("[:", with: "[:^") : "[^\(expression)]"
    let (pattern, others) = (try Pattern(expression), try Pattern(negated))
    for value in UInt8.min...UInt8.max {
      let text = String(Unicode.Scalar(value))
      #expect(pattern.matchesWhole(text) == members.contains(value), "\(expression) and \(value)")
      #expect(others.matchesWhole(text) != members.contains(value), "\(negated) and \(value)")
    }
    if "dsw".contains(expression.last ?? " ") {
      let other = try Pattern(expression.uppercased())
      for value in UInt8.min...UInt8.max {
        #expect(other.matchesWhole(String(Unicode.Scalar(value))) != members.contains(value), "\(expression), \(value)")
      }
    }
  }

  /// The characters of a list in which a minus between two stands for all from the first to the second.
  private func scalars(_ list: String) -> Set<UInt8> {
    let all = list.unicodeScalars.map { UInt8($0.value) }
    var (found, index): (Set<UInt8>, Int) = ([], 0)
    while index < all.count {
      let isRange = index + 2 < all.count && all[index + 1] == UInt8(ascii: "-")
      found.formUnion(all[index]...(isRange ? all[index + 2] : all[index]))
      index += isRange ? 3 : 1
    }
    return found
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

  /// Text from outside that is short and causes much work: large classes, folded and repeated.
  private static let costly = [
    String(repeating: #"\pL{1000}"#, count: 9), "(?i)" + String(repeating: #"\pL"#, count: 90),
    "(?i)" + String(repeating: #"[\x{80}-\x{10ffff}]"#, count: 2_000), String(repeating: "[a-z]", count: 50_000),
    "[" + String(repeating: "a-z", count: 100_000) + "]", String(repeating: "a", count: 200_000),
    #"\Q"# + String(repeating: "a", count: 200_000), "(?i)" + String(repeating: "é", count: 50_000),
    ["Lu", "Ll", "Lm", "Lo", "Mn", "Mc", "Nd", "Nl", "No", "Pd", "Po", "Sm", "Sc", "Sk", "So", "Cf", "L", "M"]
      .map { "\\p{\($0)}" }.joined(),
  ]

  @Test(arguments: costly) func `reading an expression takes no more steps than are allowed`(expression: String) {
    var limits = PatternLimits()
    limits.steps = 20_000
    do throws(PatternError) {
      _ = try Pattern(expression, isReused: false, limits: limits)
      Issue.record("it was read")
    } catch {
      #expect(error.code == .tooLarge)
      // The surplus of a single step: the folding of a large class, or all cells of an alphabet.
      #expect(error.steps > 20_000 && error.steps < 1 << 20, "\(error.steps)")
    }
  }

  @Test func `the steps of an expression are the sum of its parts`() throws {
    let (one, many) = (try Pattern(#"\pL"#), try Pattern(#"\pL{1000}"#))
    // The class is read once, however often it is repeated.
    #expect(many.steps - one.steps < 5_000)
    #expect(one.steps > 10_000)
    #expect(try Pattern("[a-z]+@[a-z.]+").steps < 2_000)
    // A quoted text is read character by character like any other: the mark before it is one more, of two bytes.
    let text = String(repeating: "a", count: 100)
    #expect(try Pattern(#"\Q"# + text).steps == Pattern(text).steps + 4 + 2)
    #expect(many.matchesWhole(String(repeating: "é", count: 1_000)))
    #expect(!many.matchesWhole(String(repeating: "é", count: 999)))
  }

  @Test(arguments: ["[a-z]+@[a-z.]+", "a", "(?i)k", #"\pL"#])
  func `an expression may take all the steps that are allowed, and not one more`(expression: String) throws {
    var limits = PatternLimits()
    limits.steps = try Pattern(expression).steps
    #expect(try Pattern(expression, limits: limits).steps == limits.steps)
    limits.steps -= 1
    #expect(throws: PatternError.self) { try Pattern(expression, limits: limits) }
  }

  @Test func `the work of a run without a table grows with the text and with the expression`() throws {
    let (short, long) = (try Pattern("a+b", isReused: false), try Pattern("(a|b){20}c", isReused: false))
    #expect(short.cost(ofTextSize: 64_000) > 5_000)
    #expect(long.cost(ofTextSize: 64_000) > 5 * short.cost(ofTextSize: 64_000))
    #expect(try Pattern("a+b").cost(ofTextSize: 64_000) == 4_001)
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
