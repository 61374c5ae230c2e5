import Testing
import VestaTesting

@testable import VestaRules

/// The outcomes that coverage and traces report.
@Suite struct ReportTests {
  private func get(_ value: RulesValue) -> RulesRequest {
    RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]), existing: .map(["data": .map(["f": value])]))
  }

  private func counts(_ coverage: RulesCoverage, of text: String) throws -> [String: Int] {
    let ruleset = coverage.ruleset
    let step = try #require(
      ruleset.tree.nodes.indices.first { ruleset.source.text(ruleset.program.spans[$0].extent) == text })
    return Dictionary(uniqueKeysWithValues: coverage.outcomes(of: step).map { ($0.outcome.text, $0.count) })
  }

  @Test func `coverage counts values by what they are, in whatever order they are`() throws {
    let coverage = RulesCoverage(of: try ruleset("resource.data.f == 1"))
    let long = String(repeating: "x", count: 65)
    let values: [RulesValue] = [
      .int(1), .int(1), .int(2), .int(1), .string("a"), .string("a"), .string("b"), .map([:]), .map(["a": .int(1)]),
      .list([]), .map([:]), .string(long), .string(long + "y"), .string("a"), .null, .float(0), .float(-0.0), .int(1),
    ]
    for value in values { _ = coverage.decide(get(value)) }
    _ = coverage.decide(RulesRequest(.get, RulesPath(notes.segments + ["c", "d"])))
    let found = try counts(coverage, of: "resource.data.f")
    #expect(
      found == [
        "1": 4, "2": 1, "'a'": 3, "'b'": 1, "map": 3, "list": 1, "string": 2, "null": 1, "0.0": 1, "-0.0": 1,
        "Null value error.": 1,
      ])
    #expect(try counts(coverage, of: "1").isEmpty, "literals have no entry")
  }

  @Test(arguments: 0..<5) func `coverage agrees with a count of the decisions`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let coverage = RulesCoverage(of: try ruleset("resource.data.f == 1"))
    var expected: [String: Int] = [:]
    for _ in 0..<500 {
      let number = Int64(random.below(30))
      _ = coverage.decide(get(.int(number)))
      expected[String(number), default: 0] += 1
    }
    let found = try counts(coverage, of: "resource.data.f")
    #expect(found.values.reduce(0, +) == 500)
    // The first sixteen values are told apart, the others are counted by their type.
    #expect(found.count <= 17)
    for (text, count) in found where text != "int" { #expect(expected[text] == count) }
  }

  @Test func `a trace has every statement of every alternative, and the parts in the order of writing`() throws {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{d}/documents { match /c/{id} {
        function same(a) { let b = a; return b == 1; }
        allow list: if false || same(resource.data.f);
        allow get;
      } } }
      """
    let ruleset = try Ruleset(source, for: .firestore)
    let query = RulesQuery("c", below: notes, filter: .field(["f"], .isIn, .list([.int(1), .int(2)])))
    let trace = ruleset.trace(query, auth: .null)
    #expect(trace.statements.count == 2)
    let texts = trace.statements.map { $0.condition?.parts.map(\.source) ?? [] }
    #expect(texts == [["false", "same(resource.data.f)"], ["false", "same(resource.data.f)"]])
    let call = try #require(trace.statements[0].condition?.parts[1])
    #expect(call.parts.map(\.source) == ["resource.data.f", "b == 1"])
    let free = ruleset.trace(get(.int(1)))
    #expect(free.statements.count == 1 && free.statements[0].condition == nil)
    #expect(free.statements[0].captures.map(\.name) == ["d", "id"])
    #expect(free.statements[0].captures.map(\.value) == ["'(default)'", "'d'"])
  }

  /// Conditions and lists that have an outcome without being evaluated.
  @Test func `what is known at once is evaluated where it is recorded`() throws {
    let coverage = RulesCoverage(of: try ruleset("request.auth != null"))
    _ = coverage.decide(get(.int(1)))
    #expect(try counts(coverage, of: "request.auth") == ["null": 1])
    #expect(try counts(coverage, of: "request.auth != null") == ["false": 1])
    let trace = try ruleset("request.auth == null && resource.data.f in [1, 2]").trace(get(.int(2)))
    let parts = try #require(trace.statements.first?.condition?.parts)
    #expect(parts.map(\.source) == ["request.auth == null", "resource.data.f in [1, 2]"])
    #expect(parts[0].parts.map(\.source) == ["request.auth", "null"])
    #expect(parts[1].parts.map(\.source) == ["resource.data.f", "[1, 2]"])
    #expect(parts[1].parts[0].parts.map(\.source) == ["resource.data"])
  }

  @Test func `errors of one expression are counted by their kind`() throws {
    let coverage = RulesCoverage(of: try ruleset("resource.data.f.g == 1"))
    for value: RulesValue in [.null, .map([:]), .null, .map([:])] { _ = coverage.decide(get(value)) }
    let found = try counts(coverage, of: "resource.data.f.g")
    #expect(found.count == 2 && found["Null value error."] == 2, "\(found)")
    #expect(found.values.reduce(0, +) == 4)
  }

  @Test func `a trace as text and JSON has the parts of each expression, and no line for a literal`() throws {
    let trace = try ruleset("(resource.data.f == 1 || true) && id == 'd'").trace(get(.int(2)))
    let lines = trace.description.split(separator: "\n").map { $0.drop { $0 == " " } }
    #expect(lines.contains("resource.data.f == 1  →  false") && lines.contains("resource.data.f  →  2"))
    #expect(!lines.contains("1  →  1") && !lines.contains("true  →  true") && !lines.contains("'d'  →  'd'"))
    let parts = "\"parts\":[{\"source\":\"resource.data.f == 1\""
    #expect(trace.json.contains(parts), "\(trace.json)")
    #expect(trace.json.contains("\"source\":\"resource.data.f\",\"line\":5,\"column\":"))
    #expect(trace.json.contains("\"value\":\"2\""))
  }

  @Test func `captures are in a trace also after an error of an earlier match`() throws {
    let ruleset = try Ruleset(
      """
      rules_version = '2';
      service cloud.firestore { match /databases/{d}/documents {
        match /c/{id} { allow get: if resource.data.f.g == 1; }
        match /{name}/{other} { allow get, list: if resource.data.f.g.h == 1 || other == 'd'; }
      } }
      """, for: .firestore)
    let trace = ruleset.trace(get(.int(1)))
    #expect(trace.decision.isAllowed)
    #expect(
      trace.statements.map { $0.captures.map(\.value) } == [["'(default)'", "'d'"], ["'(default)'", "'c'", "'d'"]])
    // The name of a document is not fixed by a query.
    let listed = ruleset.trace(RulesQuery("c", below: notes), auth: .null)
    #expect(listed.statements.map { $0.captures.map(\.name) } == [["d", "name", "other"]])
  }

  @Test func `what is no field has no filter that would prove it`() throws {
    let compiled = try ruleset("resource.data == {'a': 1} || resource.id == 'x' || other.data.a == 1")
    #expect(compiled.trace(RulesQuery("c", below: notes), auth: .null).provingFilters == [])
  }

  @Test func `operands that were not needed are named at their place`() throws {
    let trace = try ruleset("resource.data.f == 1 || id == 'd'").trace(get(.int(1)))
    let parts = try #require(trace.statements.first?.condition?.parts)
    guard case .notEvaluated = parts[1].outcome else {
      Issue.record("the outcome is \(parts[1].outcome)")
      return
    }
    #expect(parts[1].source == "id == 'd'" && parts.count == 2)
  }

  @Test func `the trace of a refused query names the filters that would prove it`() throws {
    let condition = "resource.data.owner == request.auth.uid && 5 < resource.data.a.n && 'x' in resource.data.tags"
    let compiled = try ruleset("\(condition) || resource.data.kind in ['a']")
    let ada: RulesValue = ["uid": "ada"]
    let trace = compiled.trace(RulesQuery("c", below: notes), auth: ada)
    #expect(
      trace.provingFilters == ["owner == 'ada'", "a.n > 5", "tags array-contains 'x'", "kind in ['a']"])
    #expect(trace.description.contains("a filter would prove a part of it: owner == 'ada'"))
    #expect(trace.json.contains("a.n > 5"))
    let proved = RulesQuery("c", below: notes, filter: .field(["kind"], .isIn, .list(["a"])))
    #expect(compiled.trace(proved, auth: ada).provingFilters.isEmpty)
    #expect(compiled.trace(RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]))).provingFilters.isEmpty)
  }
}
