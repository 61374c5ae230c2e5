import Testing
import VestaMessagingBackend
import VestaTesting

/// Conditions against a second reading of them, which rewrites their tokens one by one until a single value is left.
@Suite struct SlowTopicConditionTests {
  @Test func `random conditions are accepted, and hold, where rewriting says so`() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SplitMix(seed: seed)
    var (accepted, held, refused) = (0, 0, 0)
    for round in 0..<4000 {
      let tokens = Self.tokens(&random, depth: 3)
      let text = tokens.map { $0 + [" ", " ", "  ", "", "\t"][random.below(5)] }.joined()
      let topics = Set(["a", "b", "c", "d", "e"].filter { _ in random.oneIn(2) })
      let expected = Self.rewritten(tokens, topics)
      let condition = try? TopicCondition(text)
      #expect((condition != nil) == (expected != nil), "seed \(seed), round \(round): \(text)")
      #expect(condition?.holds(for: topics) == expected, "seed \(seed), round \(round): \(text) for \(topics.sorted())")
      if condition?.holds(for: topics) != expected { return }
      if let expected { (accepted, held) = (accepted + 1, held + (expected ? 1 : 0)) } else { refused += 1 }
    }
    #expect(accepted > 1000 && held > 500 && accepted - held > 500 && refused > 500)
  }

  /// A condition; one of three has a token too many, too few, or in the wrong place.
  private static func tokens(_ random: inout SplitMix, depth: Int) -> [String] {
    var tokens = chain(&random, depth: depth)
    guard random.oneIn(3) else { return tokens }
    let place = random.below(tokens.count)
    switch random.below(3) {
    case 0: tokens.remove(at: place)
    case 1: tokens.insert(["&&", "||", "!", "(", ")", "'a' in topics"][random.below(6)], at: place)
    default: tokens.swapAt(place, random.below(tokens.count))
    }
    return tokens
  }

  private static func chain(_ random: inout SplitMix, depth: Int) -> [String] {
    var tokens = operand(&random, depth: depth)
    for _ in 0..<random.below(4) { tokens += [random.oneIn(2) ? "&&" : "||"] + operand(&random, depth: depth) }
    return tokens
  }

  private static func operand(_ random: inout SplitMix, depth: Int) -> [String] {
    if random.oneIn(4) { return ["!"] + operand(&random, depth: depth) }
    if depth > 0, random.oneIn(3) { return ["("] + chain(&random, depth: depth - 1) + [")"] }
    return ["'\(["a", "b", "c", "d", "e"][random.below(5)])' in topics"]
  }

  /// The value of a condition; `nil` when more than one value is left.
  private static func rewritten(_ tokens: [String], _ topics: Set<String>) -> Bool? {
    var tokens = tokens.map { token in
      guard token.hasPrefix("'") else { return token }
      return topics.contains(token.split(separator: "'").first.map(String.init) ?? "") ? "T" : "F"
    }
    while tokens.count > 1 { if !rewriteOnce(&tokens) { return nil } }
    return tokens == ["T"] ? true : tokens == ["F"] ? false : nil
  }

  /// A negation first, then parentheses around a value, then the operator that is furthest to the left in its pair of
  /// parentheses.
  private static func rewriteOnce(_ tokens: inout [String]) -> Bool {
    func isValue(_ index: Int) -> Bool { tokens.indices.contains(index) && ["T", "F"].contains(tokens[index]) }
    for index in tokens.indices where tokens[index] == "!" && isValue(index + 1) {
      tokens.replaceSubrange(index...index + 1, with: [tokens[index + 1] == "T" ? "F" : "T"])
      return true
    }
    for index in tokens.indices where tokens[index] == "(" && isValue(index + 1) {
      guard index + 2 < tokens.count, tokens[index + 2] == ")" else { continue }
      tokens.replaceSubrange(index...index + 2, with: [tokens[index + 1]])
      return true
    }
    for index in tokens.indices where isValue(index) && isValue(index + 2) && (index == 0 || tokens[index - 1] == "(") {
      let (left, right) = (tokens[index] == "T", tokens[index + 2] == "T")
      guard ["&&", "||"].contains(tokens[index + 1]) else { continue }
      let value = tokens[index + 1] == "&&" ? left && right : left || right
      tokens.replaceSubrange(index...index + 2, with: [value ? "T" : "F"])
      return true
    }
    return false
  }
}
