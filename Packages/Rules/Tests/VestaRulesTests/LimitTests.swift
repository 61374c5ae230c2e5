import Testing
import VestaTesting

@testable import VestaRules

@Suite struct LimitTests {
  /// Documents that exist, and how often each was asked for.
  final class Counting: RulesDocuments {
    var asked: [RulesPath] = []
    func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
      asked.append(path)
      return .found(["data": .map([:])])
    }
  }

  private func lookups(_ count: Int) -> String { (0..<count).map { "exists(/x/\($0))" }.joined(separator: " && ") }
  private func request(_ id: String) -> RulesRequest {
    RulesRequest(.create, RulesPath(notes.segments + ["c", id]), resource: .map(["data": .map([:])]))
  }

  @Test func `the eleventh document is an error that a true operand makes up for`() throws {
    #expect(try ruleset(lookups(10)).decide(request("d"), documents: Counting()).isAllowed)
    let eleven = try ruleset(lookups(11)).decide(request("d"), documents: Counting())
    #expect(eleven.statements.first?.failure == .serviceCall(function: "exists", path: RulesPath("/x/10")))
    #expect(try ruleset("(\(lookups(11))) || true").decide(request("d"), documents: Counting()).isAllowed)
  }

  @Test(arguments: [
    // The eleventh lookup is an argument that is not used: its error is none of the call.
    ((0..<11).map { "unused(exists(/x/\($0)))" }, true),
    ((0..<15).map { "unused(exists(/x/\($0)))" } + ["exists(/x/20)"], false),
    (["either(true, exists(/x/0))"] + (1...9).map { "exists(/x/\($0))" }, true),
    (["either(true, exists(/x/0))"] + (1...10).map { "exists(/x/\($0))" }, false),
  ]) func `documents that unused arguments look up count, as in the official emulator`(
    terms: [String], isAllowed: Bool
  ) throws {
    let functions = "function unused(a) { return true; } function either(a, b) { return a || b; }"
    let compiled = try ruleset(terms.joined(separator: " && "), functions: functions)
    #expect(compiled.decide(request("d"), documents: Counting()).isAllowed == isAllowed)
  }

  @Test func `a document counts once and is asked for once for each function`() throws {
    let documents = Counting()
    let twice = "exists(/x/1) && get(/x/1).data == {} && exists(/x/1) && \(lookups(9))"
    #expect(try ruleset(twice).decide(request("d"), documents: documents).isAllowed)
    #expect(documents.asked.count { $0 == RulesPath("/x/1") } == 2)
  }

  @Test func `matches are nested as deeply as the limit says, and no deeper`() throws {
    func nested(_ depth: Int) throws {
      let matches = (0..<depth).map { "match /a/{x\($0)} { " }.joined()
      _ = try Ruleset(
        "rules_version = '2'; service cloud.firestore { \(matches)allow read;\(String(repeating: " }", count: depth + 1))",
        for: .firestore)
    }
    try nested(RulesLimits().matchDepth)
    let error = #expect(throws: RulesetError.self) { try nested(RulesLimits().matchDepth + 1) }
    #expect(error?.description.contains("Matches are nested deeper than 10 levels.") == true)
  }

  /// A decision about a list and a text of 5,000 elements with some work, and the work that it takes.
  private func decide(_ condition: String, work: Int = RulesLimits().work) throws -> (RulesDecision, taken: Int) {
    var budget = RulesBudget.commit()
    let data: RulesMap = [
      "list": .list(Array(repeating: .int(1), count: 5_000)), "s": .string(String(repeating: "a", count: 5_000)),
    ]
    let request = RulesRequest(.create, RulesPath(notes.segments + ["c", "d"]), resource: .map(["data": .map(data)]))
    budget.beginWrite(request.path)
    budget.work.left = work
    let compiled = try ruleset("check(request.resource.data)", functions: "function check(d) { return \(condition); }")
    return (compiled.decide(request, documents: Counting(), budget: &budget), work - budget.work.left)
  }

  @Test func `a slice takes the work of its own length, wherever it begins`() throws {
    let first = try decide("d.list[0:8] != []").taken
    #expect(try decide("d.list[4992:5000] != []").taken == first)
    #expect(try decide("d.list[0:4000] != []").taken >= first + 900)
  }

  @Test(arguments: ["d.list == d.list", "!(7 in d.list)", "d.s + d.s != ''", "d.s <= d.s", "d.list[0:100] != []"])
  func `a decision may take all the work that is allowed, and not one unit more`(condition: String) throws {
    let taken = try decide(condition).taken
    #expect(taken > 10)
    #expect(try decide(condition, work: taken).0.isAllowed)
    #expect(try decide(condition, work: taken - 1).0.statements.first?.failure == .sizeLimit)
  }

  @Test func `the writes of a commit share twenty documents, and each has ten`() throws {
    let compiled = try ruleset(
      "exists(/x/$(id)) && exists(/y/$(id)) && existsAfter(/databases/(default)/documents/c/$(id))")
    var budget = RulesBudget.commit()
    for index in 0..<11 {
      let request = request("d\(index)")
      budget.beginWrite(request.path)
      // Two documents each; the state of the written document after the commit is free.
      #expect(compiled.decide(request, documents: Counting(), budget: &budget).isAllowed == (index < 10))
    }
    var one = RulesBudget.commit()
    one.beginWrite(request("d").path)
    #expect(try !ruleset(lookups(11)).decide(request("d"), documents: Counting(), budget: &one).isAllowed)
  }

  @Test func `the expressions of each write of a commit count anew`() throws {
    // The simplest rule, in a commit of as many writes as production's libraries allow.
    let compiled = try ruleset("request.auth != null && id != ''")
    var (budget, used) = (RulesBudget.commit(), 0)
    for index in 0..<500 {
      var request = request("d\(index)")
      request.auth = ["uid": "ada"]
      budget.beginWrite(request.path)
      #expect(compiled.decide(request, documents: Counting(), budget: &budget).isAllowed)
      used += 1_000 - budget.expressions
    }
    #expect(used > 1_000)
  }

  @Test func `the expressions of all writes of a commit count together where limits say so`() throws {
    var limits = RulesLimits()
    (limits.expressions, limits.commitExpressions) = (30, 80)
    let compiled = try Ruleset(
      """
      rules_version = '2'; service cloud.firestore { match /databases/{d}/documents/c/{id} {
        allow write: if id == 'dear' ? \((0..<9).map { "1 != \($0 + 2)" }.joined(separator: " && ")) : id != '';
      } }
      """, for: .firestore, limits: limits)
    /// The verdicts and errors of writes in one commit.
    func outcomes(_ ids: [String]) -> [RulesFailure?] {
      var budget = RulesBudget.commit(limits: limits)
      return ids.map { id in
        let request = request(id)
        budget.beginWrite(request.path)
        return compiled.decide(request, documents: Counting(), budget: &budget).statements.first?.failure
      }
    }
    // Each write has its own limit, whatever the writes before it have left.
    #expect(outcomes(["cheap", "dear", "cheap"]) == [nil, .expressionLimit(30), nil])
    let many = Array(repeating: "cheap", count: 11)
    #expect(outcomes(many).compactMap(\.self) == [.expressionLimit(80)])
    #expect(outcomes(many).last != .some(nil))
    limits.commitExpressions = nil
    #expect(outcomes(many).compactMap(\.self).isEmpty)
  }

  @Test func `nothing makes up for the limit of expressions`() throws {
    let sum = (0..<40).map { "f\($0)()" }.joined(separator: " && ")
    let body = (0..<10).map { "1 + \($0) > 0" }.joined(separator: " && ")
    let functions = (0..<40).map { "function f\($0)() { return \(body); }" }.joined(separator: "\n")
    let decision = try ruleset("(\(sum)) || true", functions: functions).decide(request("d"))
    #expect(!decision.isAllowed)
    #expect(decision.statements.first?.failure == .expressionLimit(1_000))
  }

  @Test func `values that grow with every step end the decision`() throws {
    let doubling = (1..<10).map { "let v\($0) = v\($0 - 1) + v\($0 - 1);" }.joined()
    let calls = "function grow(v0) { \(doubling) return v9; }"
    for condition in [
      "grow(grow(grow(grow('0123456789')))) == ''", "grow2(grow2(grow2([1]))).size() == 0", "deep([1], [1])",
    ] {
      let lists = (1..<10).map { "let v\($0) = v\($0 - 1).concat(v\($0 - 1));" }.joined()
      let nested = (1..<10).map { "let v\($0) = [v\($0 - 1), v\($0 - 1)];" }.joined()
      let functions = """
        \(calls) function grow2(v0) { \(lists) return v9; } function nest(v0) { \(nested) return v9; }
        function deep(a, b) { return nest(nest(nest(a))) == nest(nest(nest(b))); }
        """
      let decision = try ruleset("(\(condition)) || true", functions: functions).decide(request("d"))
      #expect(decision.statements.first?.failure == .sizeLimit, "\(condition)")
    }
  }

  @Test func `a budget that ends in a later operand is named where the earlier one is not evaluated any more`() throws {
    let text = "resource.data.s"
    let rules = try ruleset("\(text).size() > 1 && hashing.sha256(\(text)) == hashing.md5(\(text))")
    let existing: RulesValue = .map(["data": .map(["s": .string(String(repeating: "x", count: 900_000))])])
    let decision = rules.decide(RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]), existing: existing))
    #expect(!decision.isAllowed && decision.statements.first?.failure == .sizeLimit)
  }

  @Test func `finding the matches of an expression in a long text counts as work`() throws {
    // Nothing makes up for a budget that is used up, and shorter texts are cut and changed as ever.
    for call in ["split(',').size() > 0", "replace(',', ';') != ''", "split('a*?b|a').size() > 0"] {
      let rules = try ruleset("resource.data.s.\(call) || true")
      func failure(_ count: Int) -> RulesFailure? {
        let existing: RulesValue = ["data": ["s": .string(String(repeating: "a,", count: count))]]
        return rules.decide(RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]), existing: existing))
          .statements.first?.failure
      }
      #expect(failure(500_000) == .sizeLimit, "\(call)")
      #expect(failure(100) == nil, "\(call)")
    }
  }

  @Test func `a decision names the documents that it needs, and is made again when they are read`() throws {
    struct Read: RulesDocuments {
      var known: Set<RulesPath>
      func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
        known.contains(path) ? .found(["data": .map(["next": .string("2")])]) : .notYetRead
      }
    }
    let compiled = try ruleset("exists(/x/$(get(/x/1).data.next)) || true")
    var documents = Read(known: [])
    #expect(compiled.decide(request("d"), documents: documents).verdict == .needs([.get], [RulesPath("/x/1")]))
    documents.known.insert(RulesPath("/x/1"))
    #expect(compiled.decide(request("d"), documents: documents).verdict == .needs([.exists], [RulesPath("/x/2")]))
    documents.known.insert(RulesPath("/x/2"))
    #expect(compiled.decide(request("d"), documents: documents).isAllowed)
  }

  @Test func `documents that have to be read are read once each, and counted once`() async throws {
    let compiled = try ruleset("exists(/x/$(get(/x/1).data.next)) && get(/x/1).data.next == '2'")
    var asked: [RulesPath] = []
    var budget = compiled.budget
    let decision = await compiled.decide(request("d"), budget: &budget) { _, path in
      asked.append(path)
      return .found(["data": ["next": "2"]])
    }
    #expect(decision.isAllowed)
    #expect(asked == [RulesPath("/x/1"), RulesPath("/x/2")])
    #expect(budget.accessCount == 2)
    struct Broken: Error {}
    await #expect(throws: Broken.self) {
      var budget = compiled.budget
      _ = try await compiled.decide(request("d"), budget: &budget) { _, _ async throws(Broken) -> RulesLookup in
        throw Broken()
      }
    }
    // Documents that were read are kept for the later writes of a request; without it the lookup fails.
    let again = await compiled.decide(request("d"), budget: &budget) { _, _ in .notYetRead }
    #expect(again.isAllowed)
    var fresh = compiled.budget
    let never = await compiled.decide(request("d"), budget: &fresh) { _, _ in .notYetRead }
    #expect(!never.isAllowed)
  }
}
