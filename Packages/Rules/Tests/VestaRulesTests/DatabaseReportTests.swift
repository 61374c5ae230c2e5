import Testing
import VestaTesting

@testable import VestaRules

/// The outcomes that traces and coverage of the Realtime Database's rules report.
@Suite struct DatabaseReportTests {
  private let source = """
    {
      // Rooms
      "rules": {
        "rooms": {
          "$room": {
            ".read": "auth != null &&
              (query.limitToFirst <= 10 || data.child('owner').val() === auth.uid)",
            ".write": true,
            ".validate": "newData.hasChildren(['owner']) && newData.child('name').val().length < 5"
          }
        }
      }
    }
    """
  private let ada: RulesValue = ["uid": "ada"]
  private let data: DatabaseTree = ["rooms": ["hall": ["owner": "ada"]]]

  @Test func `a trace has every rule that was asked, with its captures and the values of its parts`() throws {
    let trace = try DatabaseRuleset(source).traceRead(["rooms", "hall"], auth: ada, data: data)
    #expect(!trace.decision.isAllowed)
    let rule = try #require(trace.rules.first)
    #expect(trace.rules.count == 1)
    #expect(rule.path == ["rooms", "hall"] && rule.rule == ".read")
    #expect(rule.captures.map(\.name) == ["$room"] && rule.captures.map(\.value) == ["hall"])
    let condition = try #require(rule.condition)
    #expect(condition.position.line == 6 && condition.position.column == 19)
    #expect(
      condition.outcome
        == .failure(DatabaseRulesFailure("Invalid <= expression: left operand must be a number or string.")))
    #expect(condition.parts.map(\.source).first == "auth != null")
    #expect(condition.parts.first?.outcome == .value("true"))
    let either = try #require(condition.parts.last)
    #expect(either.position.line == 7)
    #expect(either.parts.map(\.source) == ["query.limitToFirst <= 10", "data.child('owner').val() === auth.uid"])
    #expect(either.parts.last?.outcome == .notEvaluated)
    #expect(either.parts.first?.parts.first?.outcome == .value("null"))
  }

  @Test func `a trace as text shows the rules, their lines and what was not needed`() throws {
    var query = DatabaseRulesQuery(.key)
    query.limitToFirst = 5
    let trace = try DatabaseRuleset(source).traceRead(["rooms", "hall"], auth: ada, query: query, data: data)
    #expect(trace.decision.isAllowed)
    let lines = trace.description.split(separator: "\n").map(String.init)
    #expect(lines[0] == "allowed")
    #expect(lines[1] == "  .read of /rooms/hall  →  true")
    #expect(lines[2] == "    line 6, $room = 'hall'")
    #expect(lines.contains("        query.limitToFirst <= 10  →  true"))
    #expect(lines.contains("        data.child('owner').val() === auth.uid  →  not evaluated"))
    #expect(trace.json.contains("\"source\":\"query.limitToFirst <= 10\""))
    let nothing = try DatabaseRuleset(source).traceRead(["other"], data: data)
    #expect(nothing.description == "denied\n  no rule applies to the path")
  }

  @Test func `a trace of a write has the validation of all that is written`() throws {
    let ruleset = try DatabaseRuleset(source)
    let after = data.setting(["owner": "ada", "name": "large"], at: ["rooms", "attic"])
    let trace = ruleset.traceWrite([["rooms", "attic"]], auth: ada, before: data, after: after)
    #expect(trace.rules.map(\.rule) == [".write", ".validate"])
    #expect(trace.rules[0].condition?.outcome == .value("true"))
    #expect(trace.rules[1].condition?.outcome == .value("false"))
    let parts = try #require(trace.rules[1].condition?.parts)
    #expect(parts.map(\.outcome) == [.value("true"), .value("false")])
    #expect(parts[1].parts.first?.outcome == .value("5"))
    #expect(parts[1].parts.first?.parts.first?.outcome == .value("'large'"))
    #expect(parts[1].parts.first?.parts.first?.parts.first?.outcome == .value("the new data at /rooms/attic/name"))
  }

  @Test(arguments: 0..<4) func `a traced decision is the decision`(seed: UInt64) throws {
    let words = [
      "auth.uid === $room", "data.exists()", "newData.isString()", "newData.val().length > 2", "auth.n + 1 > 2",
      "true", "false", "newData.parent().hasChild('name')", "root.child('rooms').child($room).exists()",
    ]
    let values: [DatabaseTree] = ["text", 5, ["name": "x"], nil]
    var random = SplitMix(seed: seed)
    for _ in 0..<200 {
      func rule() -> String {
        (0..<(1 + random.below(3))).map { _ in random.pick(words) }.joined(separator: random.pick([" && ", " || "]))
      }
      let ruleset = try DatabaseRuleset(
        "{\"rules\": {\"rooms\": {\".write\": \"auth.admin === true\", \"$room\": {\".write\": \"\(rule())\", \".validate\": \"\(rule())\"}}}}"
      )
      let path = ["rooms", random.pick(["hall", "ada"])]
      let after = data.setting(random.pick(values), at: path)
      let trace = ruleset.traceWrite([path], auth: ada, before: data, after: after)
      let plain = ruleset.decideWrite([path], auth: ada, before: data, after: after)
      #expect(trace.decision.isAllowed == plain.isAllowed)
      #expect(trace.decision.steps.map(\.outcome) == plain.steps.map(\.outcome))
      #expect(trace.rules.count == plain.steps.count)
      for (rule, step) in zip(trace.rules, plain.steps) {
        let outcome = step.outcome.map { DatabaseRulesTrace.Expression.Outcome.value(String($0)) }
        #expect(rule.condition?.outcome == outcome ?? step.failure.map { .failure($0) })
      }
    }
  }

  @Test func `coverage counts every expression of every rule, from any number of threads`() async throws {
    let coverage = DatabaseRulesCoverage(of: try DatabaseRuleset(source))
    await withTaskGroup { group in
      for number in 0..<20 {
        group.addTask { [ada, data] in
          _ = coverage.decideRead(["rooms", "hall"], auth: number % 4 == 0 ? .null : ada, data: data)
        }
      }
    }
    let lcov = coverage.lcov(fileName: "x.json")
    // Twenty times asked, never true; the second rule, which is a constant, has no entry.
    #expect(lcov.contains("SF:x.json") && lcov.contains("BRDA:6,0,0,0") && lcov.contains("BRDA:6,0,1,20"))
    #expect(lcov.contains("DA:6,20") && lcov.contains("DA:7,15") && lcov.contains("DA:9,0"))
    #expect(!lcov.contains("DA:8,"))
    let json = coverage.json()
    #expect(json.contains("\"causeMessage\":\"Invalid <= expression: left operand must be a number or string.\""))
    #expect(json.contains("\"count\":15"))
    let page = coverage.html(title: "<rules>")
    #expect(page.contains("&lt;rules&gt;") && page.contains("class=\"yes\"><td>6</td>"))
    #expect(page.contains("class=\"no\"><td>9</td>"))
  }

  @Test func `values beyond the first kinds are counted together`() throws {
    var limits = RulesLimits()
    limits.tuning.coverageValues = 3
    let ruleset = try DatabaseRuleset(#"{"rules": {"$a": {".read": "$a === 'x'"}}}"#, limits: limits)
    let coverage = DatabaseRulesCoverage(of: ruleset)
    for number in 0..<10 { coverage.decideRead(["n\(number)"], data: DatabaseTree.missing) }
    #expect(coverage.json().contains("other values"))
    #expect(coverage.json().contains("\"count\":7"))
    #expect(!coverage.json().contains("causeMessage"), "they are no errors")
  }

  @Test func `extents of expressions leave out the blanks around them`() throws {
    let ruleset = try DatabaseRuleset(#"{"rules": {".read": "  ( data . exists ( )  )   &&  ! ( now  > 1 )  "}}"#)
    let trace = ruleset.traceRead([], data: DatabaseTree.leaf(.bool(true)))
    let condition = try #require(trace.rules.first?.condition)
    #expect(condition.source == "( data . exists ( )  )   &&  ! ( now  > 1 )")
    #expect(condition.parts.map(\.source) == ["data . exists ( )", "! ( now  > 1 )"])
    #expect(condition.parts[1].parts.map(\.source) == ["now  > 1"])
  }
}
