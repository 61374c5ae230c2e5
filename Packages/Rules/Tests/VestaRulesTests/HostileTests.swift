import Foundation
import Testing
import VestaTesting

@testable import VestaRules

/// Sources and requests that no developer would write.
///
/// A crash ends the tests; every decision has an answer. There are 10^6 of them, half of each, and 10^7 in the soak.
@Suite struct HostileTests {
  private static let words = [
    "rules_version", "=", "'2'", ";", "service", "cloud.firestore", "{", "}", "match", "/", "/a", "/{x}", "/{x=**}",
    "allow", "read", ",", ":", "if", "function", "f", "(", ")", "let", "return", "in", "is", "true", "null", "1", "'",
    "\"", "\\", "[", "]", ".", "?", "!", "&&", "||", "==", "<", "+", "-", "*", "$(", "x", "request", "resource", "data",
    "//", "/*", "*/", "\n", "é", "b'", "9223372036854775808", "get", "matches", "'('", "\u{0}", "=**", "1e999", "%",
  ]

  @Test(arguments: 0..<8) func `random sources are read or refused`(seed: UInt64) {
    HostileTests.trySources(62_500, seed: seed)
  }

  @Test(arguments: 0..<8) func `every operator and method takes every value`(seed: UInt64) throws {
    try HostileTests.tryValues(6_250, requests: 10, seed: seed)
  }

  /// Compiles random sources, and asks the rulesets that compile.
  ///
  /// - Returns: The longest time that one of them took, in milliseconds of the processor.
  @discardableResult
  static func trySources(_ count: Int, seed: UInt64) -> Double {
    var random = SplitMix(seed: seed)
    var worst = 0.0
    for _ in 0..<count {
      let body = (0..<random.below(30)).map { _ in random.pick(HostileTests.words) }.joined(
        separator: random.pick([" ", ""]))
      let prefix = "rules_version = '2'; service cloud.firestore { match /{x=**} { allow read: if "
      let source = random.oneIn(3) ? body : prefix + body + random.pick(["; } }", "", "; }"])
      let start = processorMilliseconds()
      if let ruleset = try? Ruleset(source, for: .firestore) {
        _ = ruleset.decide(RulesRequest(.get, RulesPath("/a/b")))
      }
      _ = try? DatabaseRuleset(source)
      worst = max(worst, processorMilliseconds() - start)
    }
    return worst
  }

  private static func value(_ random: inout SplitMix, _ depth: Int) -> RulesValue {
    switch random.below(depth == 0 ? 11 : 14) {
    case 0: return .null
    case 1: return .bool(random.oneIn(2))
    case 2: return .int(random.pick([0, 1, -1, .min, .max, 7]))
    case 3: return .float(random.pick([0, -0.0, 1.5, .nan, .infinity, -.infinity, 1e300, .leastNonzeroMagnitude]))
    case 4: return .string(random.pick(["", "a", "é😀", "/a/b", "(", "a,b", String(repeating: "x", count: 50)]))
    case 5: return .bytes(random.bytes(random.below(4)))
    case 6: return .timestamp(RulesTimestamp(seconds: random.pick([0, -1, .min, .max, 1_700_000_000]), nanoseconds: 5))
    case 7: return .duration(RulesDuration(seconds: random.pick([0, -1, .min, .max]), nanoseconds: 999_999_999))
    case 8: return .latlng(RulesLatLng(latitude: random.pick([0, .nan, 90]), longitude: 180))
    case 9: return .path(RulesPath(random.pick([[], ["a"], ["a", "$(x)", "{y}"]])))
    case 10: return .set(RulesSet([.int(1), .float(1), .string("a")]))
    case 11: return .list((0..<random.below(4)).map { _ in value(&random, depth - 1) })
    case 12: return .mapDiff(RulesMapDiff(left: ["a": value(&random, depth - 1)], right: ["b": .int(1)]))
    default:
      return .map(
        RulesMap(
          (0..<random.below(4)).map { _ in RulesMap.Member(random.pick(["a", "b", "", "é"]), value(&random, depth - 1))
          }))
    }
  }

  private static func expression(_ random: inout SplitMix, _ depth: Int) -> String {
    func inner() -> String { expression(&random, depth - 1) }
    if depth == 0 {
      return random.pick([
        "resource", "request.resource", "request.auth", "1", "'a'", "-1", "null", "[]", "{}", "request.path", "x",
        "0.5", "b'\\xff'",
      ])
    }
    switch random.below(8) {
    case 0: return "(\(inner()) \(random.pick(BinaryOperator.allCases).rawValue) \(inner()))"
    case 1: return "\(inner()).\(random.pick(ValueMethod.allCases).rawValue)()"
    case 2: return "\(inner()).\(random.pick(ValueMethod.allCases).rawValue)(\(inner()))"
    case 3: return "\(inner()).\(random.pick(ValueMethod.allCases).rawValue)(\(inner()), \(inner()))"
    case 4: return "\(inner())[\(inner())]"
    case 5: return "\(inner())[\(inner()):\(inner())]"
    case 6:
      let builtin = random.pick(Builtin.allCases)
      return "\(builtin.rawValue)(\((0..<builtin.arity).map { _ in inner() }.joined(separator: ", ")))"
    default:
      return random.pick(["(/a/$(\(inner()))/b)", "-\(inner())", "[\(inner()), \(inner())]", "{'k': \(inner())}.k"])
    }
  }

  /// Asks random expressions about random values.
  ///
  /// - Returns: The longest time that one decision took, in milliseconds of the processor.
  @discardableResult
  static func tryValues(_ count: Int, requests: Int, seed: UInt64) throws -> Double {
    var random = SplitMix(seed: seed)
    var worst = 0.0
    for _ in 0..<count {
      let text = expression(&random, 3)
      let compiled = try ruleset("\(text) == 1", dialect: .emulator)
      for _ in 0..<requests {
        let request = RulesRequest(
          .get, RulesPath(notes.segments + ["c", "d"]), auth: value(&random, 2), resource: value(&random, 2),
          existing: value(&random, 3))
        let start = processorMilliseconds()
        let decision = compiled.decide(request)
        worst = max(worst, processorMilliseconds() - start)
        #expect(decision.isAllowed || decision.statements.count == 1)
        _ = decision.message
      }
    }
    return worst
  }

  @Test func `a thousand siblings and many overlapping matches are found`() throws {
    let matches = (0..<1_000).map { "match /c\($0)/{id} { allow get: if id == 'd' && \($0) == \($0); }" }.joined(
      separator: "\n")
    let source =
      "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents {\n\(matches)\nmatch /{all=**} { allow list: if true; } } }"
    let compiled = try Ruleset(source, for: .firestore)
    #expect(compiled.decide(RulesRequest(.get, RulesPath(notes.segments + ["c999", "d"]))).isAllowed)
    #expect(!compiled.decide(RulesRequest(.get, RulesPath(notes.segments + ["c1000", "d"]))).isAllowed)
    #expect(compiled.decide(RulesRequest(.list, RulesPath(notes.segments + ["c1", "x", "y"]))).isAllowed)
    let globs =
      (0..<9).map { "match /{g\($0)=**}/a {" }.joined() + "allow get: if true;" + String(repeating: "}", count: 9)
    let deep = try Ruleset("rules_version = '2'; service cloud.firestore { \(globs) }", for: .firestore)
    #expect(!deep.decide(RulesRequest(.get, RulesPath(Array(repeating: "a", count: 99) + ["b"]))).isAllowed)
    #expect(deep.decide(RulesRequest(.get, RulesPath(Array(repeating: "a", count: 99)))).isAllowed)
  }
}
