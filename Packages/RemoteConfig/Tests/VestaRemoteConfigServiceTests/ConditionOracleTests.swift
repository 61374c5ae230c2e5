import Foundation
import Testing
import VestaPatterns
import VestaRemoteConfigBackend
import VestaTesting

@testable import VestaRemoteConfigService

@Suite struct ConditionOracleTests {
  @Test func `random conditions hold where a second evaluator says so`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var oracle = ConditionOracle(seed: seed)
    var held = 0
    for round in 0..<4000 {
      let (text, holds) = oracle.expression()
      let expression = try ConditionParser.parse(text)
      for _ in 0..<5 {
        let (instance, now) = (oracle.instance(), oracle.time())
        let outcome = ConditionEvaluator(instance: instance, now: now).holds(expression)
        held += outcome ? 1 : 0
        let expected = holds(instance, now)
        #expect(outcome == expected, "seed \(seed), round \(round): \(text) for \(instance) at \(now)")
        if outcome != expected { return }
      }
    }
    #expect(held > 1000)
  }

  @Test func `damaged expressions are refused with a place inside of them, and never crash`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var oracle = ConditionOracle(seed: seed)
    var random = SplitMix(seed: seed ^ 1)
    let pieces = [
      "&&", "||", "'", "\\", "(", ")", "[", "]", "🇩🇪", "e\u{301}", "\u{0}", "9e999", "-", ".", "\r\n", "<=", "é",
    ]
    var refused = 0
    for round in 0..<4000 {
      var scalars = Array(oracle.expression().text.unicodeScalars)
      for _ in 0...random.below(3) where !scalars.isEmpty {
        let place = random.below(scalars.count)
        switch random.below(3) {
        case 0: scalars.remove(at: place)
        case 1: scalars.insert(contentsOf: pieces[random.below(pieces.count)].unicodeScalars, at: place)
        default: scalars.swapAt(place, random.below(scalars.count))
        }
      }
      let text = String(String.UnicodeScalarView(scalars))
      do throws(ConditionSyntaxError) {
        _ = ConditionEvaluator(instance: oracle.instance(), now: 0).holds(try ConditionParser.parse(text))
      } catch {
        refused += 1
        #expect((1...text.count + 1).contains(error.column(in: text)), "seed \(seed), round \(round): \(text)")
        #expect(!error.message.isEmpty)
      }
    }
    #expect(refused > 1000)
  }

  @Test func `the column of a mistake counts characters as people see them`() throws {
    for (text, column) in [
      ("app.id == 'e\u{301}🇩🇪' ?", 16), ("device.country in ['🇩🇪' 'x']", 24), ("percent <= 101", 12), ("true &&", 8),
      ("app.id == 'x", 11), ("app.version.<(['1.2'], 3)", 22), ("dateTime < dateTime('2026-02-30T00:00:00')", 21),
      ("dateTime < dateTime('2026-01-01T00:00:00', 'Mars/Olympus')", 44),
    ] {
      let error = #expect(throws: ConditionSyntaxError.self) { try ConditionParser.parse(text) }
      #expect(error?.column(in: text) == column, "\(text): \(error?.message ?? "")")
    }
  }

  @Test func `the same pattern finds the same texts as the platform's regular expressions`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    var found = 0
    for round in 0..<1500 {
      let source = Self.pattern(&random, depth: 3)
      let ours = try ConditionPatternTuning().pattern(source)
      // The platform refuses some of them, such as the repetition of an anchor.
      guard let theirs = try? NSRegularExpression(pattern: source) else { continue }
      for _ in 0..<8 {
        let text = String((0..<random.below(7)).map { _ in Array("abc-]^")[random.below(6)] })
        let range = NSRange(location: 0, length: text.utf16.count)
        let expected = theirs.firstMatch(in: text, range: range) != nil
        found += expected ? 1 : 0
        #expect(ours.isFound(in: text) == expected, "seed \(seed), round \(round): \(source) in \(text)")
      }
    }
    #expect(found > 1000)
  }

  private static func pattern(_ random: inout SplitMix, depth: Int) -> String {
    var text = ""
    for _ in 0..<random.below(4) {
      let atoms = [
        "a", "b", "c", ".", "[ab]", "[^a]", "[\\-ac]", "\\d", "\\w", "\\W", "^", "$", "-", "\\^", "[\\]\\^]",
      ]
      var piece = atoms[random.below(atoms.count)]
      if depth > 0, random.oneIn(3) { piece = "\(random.oneIn(2) ? "(" : "(?:")\(pattern(&random, depth: depth - 1)))" }
      let counts = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "??"]
      // ICU loses the way out of reluctant repetitions of groups that may be empty: those are left out.
      let isGroup = piece.hasPrefix("(")
      if random.oneIn(3), piece != "^", piece != "$" { piece += counts[random.below(isGroup ? 6 : counts.count)] }
      text += piece
    }
    return random.oneIn(4) && depth > 0 ? "\(text)|\(pattern(&random, depth: depth - 1))" : text
  }

  @Test(arguments: ["a**", "a+*", "a{2}{3}", "a??*", "[[:letter:]]", "[a", "(", "a)", "\\", "[z-a]", "(?=a)", "x{101}"])
  func `a pattern that other engines refuse or read otherwise is refused`(source: String) {
    #expect(throws: PatternError.self) { try ConditionPatternTuning().pattern(source) }
  }

  /// The digests are of another implementation; the lengths are around the ends of the blocks of SHA-256.
  @Test func `the percentile is right for ids of every length`() {
    let vectors = [
      54: 62_773_313, 55: 2_527_622, 56: 31_726_469, 57: 91_991_515, 63: 42_622_005, 64: 57_163_646, 65: 44_124_358,
      118: 5_768_010, 119: 28_733_219, 120: 69_569_635, 121: 61_567_412, 127: 81_998_048, 128: 92_025_595,
      129: 53_078_245, 1000: 69_419_705,
    ]
    for (length, expected) in vectors {
      #expect(Percentile.micro(seed: "sss", id: String(repeating: "x", count: length - 4)) == expected, "\(length)")
    }
    #expect(Percentile.micro(seed: "ünï", id: "🇩🇪") == 83_047_764)
    #expect(Percentile.micro(seed: "", id: "") == 65_086_549)
  }
}
