import Foundation
import Testing
import VestaPatterns
import VestaTesting

@testable import VestaRemoteConfigService

/// The regular expressions of conditions: the syntax of RE2, as Firebase has it, in bounds of their own.
@Suite struct ConditionPatternTests {
  private func pattern(_ source: String) throws(PatternError) -> Pattern {
    try ConditionPatternTuning().pattern(source)
  }

  @Test(arguments: [
    ("abc", "xabcx", true), ("^abc$", "xabc", false), ("^a.c$", "abc", true), ("a|b", "xb", true),
    ("^(ab)+$", "abab", true),
    ("^(ab)+$", "aba", false), ("^a{2,3}$", "aaa", true), ("^a{2,3}$", "aaaa", false), ("^a{2}$", "aa", true),
    ("^[a-c1]+$", "abc1", true), ("^[^a-c]+$", "xyz", true), ("^\\d+\\.\\d+$", "12.5", true), ("\\s", "a b", true),
    ("^$", "", true), ("a*", "", true), ("^(?:x|)y$", "y", true), ("^[\\]\\-]$", "-", true), ("^a+?b$", "aab", true),
    ("^é.$", "é😀", true), ("^\\w+$", "a_1", true), ("^\\W$", "a", false), ("x{0}y", "y", true),
    ("^a{$", "a{", true), ("^a{,2}$", "a{,2}", true), ("\\bb\\b", "a b", true), ("\\bb\\b", "ab", false),
    ("^[[:alpha:]]+$", "ab", true), ("^[\\D]$", "1", false), ("(?i)^AB$", "ab", true), ("^\\pL+$", "éa", true),
    // Repetitions of nothing are nothing, and no work.
    ("^(((((){100}){100}){100}){100}){100}$", "", true),
  ])
  func `an expression matches or does not`(source: String, text: String, expected: Bool) throws {
    #expect(try pattern(source).isFound(in: text) == expected)
  }

  @Test(arguments: [
    "(", ")", "[", "*a", "\\", "(?=a)", "(a)\\1", "a{2,1}", "a{101}", "[b-a]", "((a{100}){100}){100}", "[a-", "[a-z",
  ])
  func `what is not supported is refused`(source: String) {
    #expect(throws: PatternError.self) { try pattern(source) }
  }

  @Test func `an expression that takes other matchers for ever is matched in linear time`() throws {
    let pattern = try pattern("^(a+)+(b|a)*(a|aa)+$")
    #expect(!pattern.isFound(in: String(repeating: "a", count: 5000) + "!"))
  }

  @Test func `random expressions agree with Foundation's`() throws {
    var random = SplitMix(seed: 3)
    let pieces = ["a", "b", "c", ".", "a*", "b+", "c?", "(a|b)", "(ab)*", "[ab]", "[^a]", "^", "$", "a{1,2}", "(b|)"]
    for _ in 0..<300 {
      let source = (0..<1 + random.below(5)).map { _ in pieces[random.below(pieces.count)] }.joined()
      let pattern = try pattern(source)
      let reference = try NSRegularExpression(pattern: source)
      for _ in 0..<20 {
        let text = String((0..<random.below(6)).map { _ in "abc".randomElement(using: &random) ?? "a" })
        let expected = reference.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
        #expect(pattern.isFound(in: text) == expected, "\(source) in \(text)")
      }
    }
  }
}
