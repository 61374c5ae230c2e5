import Testing
import VestaTesting

@testable import VestaPatterns

@Suite struct PatternSearchTests {
  private static let expressions = [
    "a", "b+", "^a*b", "(a|b){1,3}c$", "[^c]+", ".{2,5}", "$", "^$", "(b|)c", "^(a|b)*$", "a*^b", "\\bab\\b",
    "c(?:a|)b?",
    "(?m)^b", "x", "(^a|^c)b", "",
  ]

  @Test func `a search in slices of any size finds what whole matching finds`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    var found = 0
    for round in 0..<2_000 {
      let expression = random.pick(Self.expressions)
      let text = (0..<random.below(12)).map { _ in random.pick(["a", "b", "c", "\n", "é"]) }.joined()
      // The text matches as a whole with anything before and after.
      let expected = try Pattern("(?s:.*)(?:\(expression))(?s:.*)", isReused: false).matchesWhole(text)
      let pattern = try Pattern(expression)
      #expect(pattern.isFound(in: text) == expected, "seed \(seed), round \(round): \(expression) in \(text)")
      var (search, outcome, slices) = (PatternSearch(pattern, in: text), Bool?.none, 0)
      let size = 1 + random.below(6)
      while outcome == nil, slices <= text.unicodeScalars.count {
        var steps = size
        outcome = search.advance(&steps)
        slices += 1
      }
      #expect(outcome == expected, "seed \(seed), round \(round), slice \(size): \(expression) in \(text)")
      found += expected ? 1 : 0
    }
    #expect((200..<1_800).contains(found))
  }

  @Test func `a search pauses when its steps are used up, and counts them`() throws {
    let text = String(repeating: "a", count: 1_000) + "b"
    let pattern = try Pattern("(a|aa)+b$")
    var (search, steps) = (PatternSearch(pattern, in: text), 0)
    #expect(search.advance(&steps) == nil && steps == 0)
    steps = 50
    #expect(search.advance(&steps) == nil)
    #expect(steps <= 0 && steps > -2 * pattern.program.instructions.count - 2)
    steps = Int.max
    #expect(search.advance(&steps) == true)
    #expect(Int.max - steps > 1_000)
    #expect(Int.max - steps <= 2 * pattern.searchSteps(forCharacters: text.count))
  }

  @Test func `each character costs a step, and one for each way when it is added and when it is taken`() throws {
    let text = String(repeating: "b", count: 1_000)
    for (expression, ways) in [("a", 1), ("a|c", 2)] {
      var (search, steps) = (PatternSearch(try Pattern(expression), in: text), Int.max)
      #expect(search.advance(&steps) == false)
      // Alternatives have a split besides; after the last character the ways are added once more.
      let added = ways == 1 ? 1 : ways + 1
      #expect(Int.max - steps == 1_000 * (1 + ways + added) + added, "\(expression)")
    }
  }

  @Test func `an expression that is tied to the start is not looked for at each character`() throws {
    let text = String(repeating: "b", count: 10_000)
    for (expression, isAnchored) in [
      ("^a+", true), ("(^a|^c)", true), ("\\Aa", true), ("(?m)^a", false), ("^a|c", false), ("a*^b", false),
      ("", false),
    ] {
      let pattern = try Pattern(expression)
      #expect(pattern.program.isAnchored == isAnchored, "\(expression)")
      var (search, steps) = (PatternSearch(pattern, in: text), Int.max)
      _ = search.advance(&steps)
      if isAnchored { #expect(Int.max - steps < 20, "\(expression)") }
    }
  }
}
