import Testing
import VestaTesting

@testable import VestaPatterns

/// Random expressions against a search that tries one way after the other, written from the meaning of the operators.
@Suite struct PatternOracleTests {
  /// The ends of all matches from a position, the preferred one first.
  private func ends(_ tree: PatternTree, _ text: [UInt32], _ start: Int) -> [Int] {
    var found: [Int] = []
    func visit(_ tree: PatternTree, _ at: Int, _ then: (Int) -> Void) {
      switch tree {
      case .empty: then(at)
      case .set(let set): if at < text.count, set.contains(text[at]) { then(at + 1) }
      case .assertion(let assertion): if holds(assertion, text, at) { then(at) }
      case .sequence(let list):
        guard let first = list.first else { return then(at) }
        visit(first, at) { visit(.sequence(Array(list.dropFirst())), $0, then) }
      case .alternatives(let list): for alternative in list { visit(alternative, at, then) }
      case .repetition(let inner, let minimum, let maximum, let isGreedy):
        func more(_ at: Int) {
          guard maximum != 0 else { return }
          let rest = PatternTree.repetition(
            inner, minimum: max(0, minimum - 1), maximum: maximum.map { $0 - 1 }, isGreedy: isGreedy)
          // A round that takes nothing is the last one.
          visit(inner, at) { if $0 > at || minimum > 1 { visit(rest, $0, then) } else { then($0) } }
        }
        if minimum > 0 {
          more(at)
        } else if isGreedy {
          more(at)
          then(at)
        } else {
          then(at)
          more(at)
        }
      }
    }
    visit(tree, start) { if !found.contains($0) { found.append($0) } }
    return found
  }

  /// Whether a round of a repetition can take nothing.
  ///
  /// Which of several ways is preferred then differs between engines that search and RE2, which this one follows:
  /// fixed examples hold it.
  private func repeatsNothing(_ tree: PatternTree) -> Bool {
    switch tree {
    case .empty, .set, .assertion: false
    case .sequence(let list), .alternatives(let list): list.contains(where: repeatsNothing)
    case .repetition(let inner, _, _, _): canBeEmpty(inner) || repeatsNothing(inner)
    }
  }

  private func canBeEmpty(_ tree: PatternTree) -> Bool {
    switch tree {
    case .empty, .assertion: true
    case .set: false
    case .sequence(let list): list.allSatisfy(canBeEmpty)
    case .alternatives(let list): list.contains(where: canBeEmpty)
    case .repetition(let inner, let minimum, _, _): minimum == 0 || canBeEmpty(inner)
    }
  }

  private func holds(_ assertion: PatternAssertion, _ text: [UInt32], _ at: Int) -> Bool {
    func word(_ index: Int) -> Bool { text.indices.contains(index) && ScalarSet.words.contains(text[index]) }
    switch assertion {
    case .textStart: return at == 0
    case .textEnd: return at == text.count
    case .lineStart: return at == 0 || text[at - 1] == 10
    case .lineEnd: return at == text.count || text[at] == 10
    case .wordBoundary: return word(at - 1) != word(at)
    case .noWordBoundary: return word(at - 1) == word(at)
    }
  }

  private func expression(_ random: inout SplitMix, _ depth: Int) -> String {
    if depth == 0 || random.oneIn(4) {
      return random.pick(["a", "b", ".", "[^a]", "", "^", "$", "\\b", "ab", "[ab]", "\\B", "(?m)^", "(?m)$"])
    }
    let inner = expression(&random, depth - 1)
    switch random.below(4) {
    case 0: return "(?:\(inner)|\(expression(&random, depth - 1)))"
    case 1: return "(\(inner))\(random.pick(["*", "+", "?", "{2}", "{0,2}", "{1,}"]))\(random.pick(["", "?"]))"
    default: return inner + expression(&random, depth - 1)
    }
  }

  @Test(arguments: 0..<20) func `every way of matching agrees with a search that tries all`(seed: Int) throws {
    var random = SplitMix(seed: UInt64(seed))
    for _ in 0..<100 {
      let source = expression(&random, 3)
      let tree = try PatternParser.parse(source, limits: PatternLimits(), ignoresCase: false).tree
      let (pattern, slow) = (try Pattern(source), try Pattern(source, isReused: false))
      for _ in 0..<5 {
        let text = String((0..<random.below(7)).map { _ in random.pick(["a", "b", "-", "\n", "é"]) as Character })
        let scalars = text.unicodeScalars.map(\.value)
        let isWhole = ends(tree, scalars, 0).contains(scalars.count)
        #expect(pattern.matchesWhole(text) == isWhole, "\(source) on \(text), seed \(seed)")
        #expect(slow.matchesWhole(text) == isWhole, "\(source) on \(text), seed \(seed)")
        guard !repeatsNothing(tree) else { continue }
        var (expected, position): ([Range<Int>], Int) = ([], 0)
        while position <= scalars.count {
          guard let start = (position...scalars.count).first(where: { !ends(tree, scalars, $0).isEmpty }) else { break }
          let end = ends(tree, scalars, start)[0]
          expected.append(start..<end)
          position = end == start ? end + 1 : end
        }
        #expect(pattern.matches(in: text, maximumSteps: .max) == expected, "\(source) on \(text), seed \(seed)")
      }
    }
  }

  @Test func `random text as an expression is read or refused`() {
    var random = SplitMix(seed: 7)
    let parts = [
      "(", ")", "[", "]", "{", "}", "*", "+", "?", "|", "\\", "^", "$", ".", "-", ",", "1", "9", "a", "P", "<", ">",
      ":", "é", "p", "x", "Q", "i",
    ]
    for _ in 0..<20_000 {
      let source = (0..<random.below(12)).map { _ in random.pick(parts) }.joined()
      guard let pattern = try? Pattern(source) else { continue }
      _ = pattern.matchesWhole("aab1")
    }
  }
}
