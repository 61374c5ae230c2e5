import Foundation
import Testing
import VestaTesting

@testable import VestaRules

/// The time that the processor has spent on this thread, in milliseconds: what a busy machine does not change.
func processorMilliseconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
}

/// Sources and requests of great depth and size.
@Suite struct HostileShapeTests {
  private static let heads = ["", "rules_version = '2'; service cloud.firestore { match /a/{x} { allow read: if "]
  private static let units = [
    "(", "!", "-", "[", "{'a':", "a.", "f(", "1+", "1-", "true&&", "true||", "true?true:", "/a/$(", "a[", "a[1:",
    "1 in ",
    "x is int is ", "//", "/*", "'", "\"", "b'", "\\", "match /a {", "match /{a}/b {", "match /{a=**} {",
    "allow read: if true;", "allow read, ", "function f() { return 1; }", "function f(", "let a = 1;", "é", "\u{0}",
    "😀",
    "\u{202E}", "a\u{301}", "'\\u0000'", "'\\ud800'", "1e", "9", "$(", "=**}", "\r", "service cloud.firestore {",
    "rules_version='2';", "}", ")", "]", ";", ",", "get(", "x.matches('", "x.matches('(')&&",
  ]

  @Test(arguments: units) func `a source of one piece over and over is compiled or refused`(unit: String) throws {
    for head in Self.heads {
      // Once as long as is allowed, and once of a depth that is near the bounds.
      for count in [4_000, 99, 10] {
        let source = head + String(repeating: unit, count: count) + "true"
        do throws(RulesetError) {
          let compiled = try Ruleset(source, for: .firestore)
          _ = compiled.decide(RulesRequest(.get, RulesPath("/a/b")))
        } catch {
          #expect(!error.issues.isEmpty && !error.description.isEmpty)
        }
        _ = try? DatabaseRuleset(source)
        _ = try? DatabaseRuleset(#"{"rules": {".read": "\#(String(repeating: unit, count: count))"}}"#)
      }
    }
  }

  @Test func `functions that call one another in all ways are compiled, and evaluated within the budget`() throws {
    let functions = (0..<20).map { number in
      let calls = (number + 1..<20).map { "f\($0)()" } + ["true"]
      return "function f\(number)() { return \(calls.joined(separator: " && ")); }"
    }
    let compiled = try ruleset("f0()", functions: functions.joined(separator: "\n"))
    let decision = compiled.decide(RulesRequest(.get, RulesPath(notes.segments + ["c", "d"])))
    #expect(decision.statements.first?.failure == .expressionLimit(1_000))
  }

  private static let patterns = [
    "(a{1000}){1000}", "((((a{100}){100}){100}){100})", "(((((a*)*)*)*)*)*b", "(a|a|a|a)*b",
    "(.*)(.*)(.*)(.*)(.*)(.*)x",
    String(repeating: "a?", count: 500) + String(repeating: "a", count: 500), "(?i)(é|É)*$", "[^a]*[^b]*[^c]*d",
    "\\pL{1000}", "(a{0,1000}){0,1000}", String(repeating: "(", count: 5_000), String(repeating: "a|", count: 5_000),
    "[" + String(repeating: "a-z", count: 5_000) + "]", "\\C*", "(?s).*(?-s).*\\z", "x*", "",
  ]

  @Test(arguments: patterns) func `a pattern has an answer, written in the rules or sent by a caller`(
    pattern: String
  ) throws {
    let text = String(repeating: "a", count: 3_000)
    let request = RulesRequest(
      .get, RulesPath(notes.segments + ["c", "d"]), existing: ["data": ["s": .string(text), "p": .string(pattern)]])
    let written = "'" + pattern.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\") + "'"
    for expression in ["resource.data.p", written] {
      for condition in [
        "s.matches(\(expression))", "s.split(\(expression)).size() > 0", "s.replace(\(expression), 'bb') != s",
      ] {
        guard
          let compiled = try? ruleset(
            "check(resource.data.s)", functions: "function check(s) { return \(condition); }")
        else { continue }
        let decision = compiled.decide(request)
        #expect(decision.isAllowed || decision.statements.count == 1)
      }
    }
  }

  /// Sixty patterns of a caller, each of which takes long to read.
  @Test(arguments: [
    String(repeating: "\\pL{1000}", count: 9), "(?i)" + String(repeating: "\\pL", count: 90),
    "(?i)" + String(repeating: "[\\x{80}-\\x{10ffff}]", count: 2_000),
    "(?i)" + String(repeating: "\\PL", count: 20) + "(",
    String(repeating: "a", count: 50_000),
  ]) func `reading the patterns of a caller takes the work of the decision`(pattern: String) throws {
    let tries = (0..<60).map { "'a'.matches(resource.data.p + '\($0)')" }.joined(separator: " || ")
    let request = RulesRequest(
      .get, RulesPath(notes.segments + ["c", "d"]), existing: ["data": ["p": .string(pattern)]])
    let decision = try ruleset("(\(tries)) || true").decide(request)
    #expect(decision.statements.first?.failure == .sizeLimit)
  }

  @Test(arguments: ["s.matches('P')", "s.split('P').size() == 0", "s.replace('P', 'x') != s"])
  func `reading a pattern that is written in the rules takes no work of the decision`(call: String) throws {
    let pattern = String(repeating: "\\\\pL{1000}", count: 9)
    let tries = (0..<60).map { "fits('\($0)')" }.joined(separator: " || ")
    let compiled = try ruleset(
      "(\(tries)) || true", functions: "function fits(s) { return \(call.replacing("P", with: pattern)); }")
    #expect(compiled.decide(RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]))).isAllowed)
  }

  @Test func `matching long texts without a table takes the work of the decision`() throws {
    func decide(_ count: Int) throws -> RulesDecision {
      let tries = (0..<count).map { "s.matches(p + '\($0)')" }.joined(separator: " || ")
      let request = RulesRequest(
        .get, RulesPath(notes.segments + ["c", "d"]),
        existing: ["data": ["p": "(a*)*b", "s": .string(String(repeating: "a", count: 8_000))]])
      return try ruleset(
        "check(resource.data.s, resource.data.p)", functions: "function check(s, p) { return (\(tries)) || true; }"
      ).decide(request)
    }
    #expect(try decide(10).isAllowed)
    #expect(try decide(90).statements.first?.failure == .sizeLimit)
  }

  @Test func `a loop of lookups ends with the budget`() throws {
    /// Every document leads to the next one.
    struct Endless: RulesDocuments {
      func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
        .found(["data": ["next": .string((path.segments.last ?? "") + "x")]])
      }
    }
    let hops = (0..<9).map { "let v\($0 + 1) = get(/x/$(v\($0).data.next));" }.joined()
    let functions = """
      function hop(v0) { \(hops) return v9; }
      function far(v) { return hop(v).data.next != ''; }
      """
    let request = RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]))
    #expect(try ruleset("far(get(/x/0))", functions: functions).decide(request, documents: Endless()).isAllowed)
    let tooFar = try ruleset("far(hop(get(/x/0)))", functions: functions).decide(request, documents: Endless())
    #expect(tooFar.statements.first?.failure.map { if case .serviceCall = $0 { true } else { false } } == true)
  }

  @Test func `claims and documents of great depth and width are values like others`() throws {
    var (deep, wide): (RulesValue, [RulesMap.Member]) = (1, [])
    for _ in 0..<2_000 { deep = ["n": deep] }
    for number in 0..<20_000 { wide.append(RulesMap.Member("k\(number)", .int(Int64(number)))) }
    let request = RulesRequest(
      .update, RulesPath(notes.segments + ["c", "d"]), auth: ["uid": "ada", "token": ["deep": deep]],
      resource: ["data": .map(RulesMap(wide))], existing: ["data": .map(RulesMap(wide + [RulesMap.Member("a", deep)]))])
    for condition in [
      "request.auth.token.deep == request.auth.token.deep", "string(request.auth.token.deep) == ''",
      "request.resource.data.diff(resource.data).affectedKeys().hasOnly(['a'])",
      "[resource.data, resource.data].toSet() == 1",
      "resource.data.keys().toSet().union(request.resource.data.keys().toSet()).size() == 1",
      "resource.data in [resource.data]", "resource.data.values().join('') == ''",
    ] {
      let decision = try ruleset(condition).decide(request)
      #expect(decision.isAllowed || decision.statements.count == 1, "\(condition)")
      _ = try ruleset(condition).trace(request).description
    }
  }
}
