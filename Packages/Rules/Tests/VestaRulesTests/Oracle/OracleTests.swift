import Testing
import VestaRules
import VestaTesting

/// Random rulesets and requests, decided by the package and by an oracle that shares no code with it: it has separate
/// syntax trees, which it writes as a text for the package, separate values, and a separate evaluator.
@Suite struct OracleTests {
  /// The counts of a run.
  struct Counts {
    var decisions = 0
    var allowed = 0
    var errors = 0
    var skipped = 0
  }

  private struct Documents: RulesDocuments {
    let all: [(RulesPath, RulesMap)]

    init(_ request: NaiveRequest) {
      all = request.documents.map { pair in
        (RulesPath(pair.path.map { String(decoding: $0, as: UTF16.self) }), pair.document.packaged)
      }
    }

    func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
      all.first { $0.0 == path }.map { .found($0.1) } ?? .missing
    }
  }

  /// Bounds that no program reaches: the description does not say exactly how expressions are counted.
  private static var limits: RulesLimits {
    var limits = RulesLimits()
    limits.expressions = 1 << 40
    limits.work = 1 << 40
    return limits
  }

  /// Compares `count` rulesets, each with several requests.
  @discardableResult
  static func compare(_ count: Int, seed: UInt64, requests: Int = 4) throws -> Counts {
    var (random, counts) = (RandomRulesets(seed: seed), Counts())
    for _ in 0..<count {
      let naive = random.ruleset()
      let text = naive.text
      let ruleset: Ruleset
      do throws(RulesetError) {
        ruleset = try Ruleset(text, for: .firestore, limits: limits)
      } catch {
        Issue.record("seed \(seed): refused: \(error)\n\(text)")
        continue
      }
      for _ in 0..<requests {
        let request = random.request()
        guard compare(naive, ruleset, request, &counts) else {
          Issue.record("seed \(seed)\n\(text)\n\(request)")
          return counts
        }
      }
    }
    return counts
  }

  private static func compare(
    _ naive: NaiveRuleset, _ ruleset: Ruleset, _ request: NaiveRequest, _ counts: inout Counts
  ) -> Bool {
    let expected: [NaiveRuleset.Refusal]?
    do throws(NaiveError) {
      expected = try naive.decide(request)
    } catch {
      counts.skipped += 1
      return true
    }
    counts.decisions += 1
    let decision = ruleset.decide(packaged(request), documents: Documents(request))
    guard let expected else {
      counts.allowed += 1
      return decision.isAllowed
    }
    let statements = decision.statements
    guard !decision.isAllowed, statements.count == expected.count else { return false }
    for (refusal, statement) in zip(expected, statements) {
      let message = statement.failure?.description
      switch refusal {
      case nil: if message != nil { return differ("false", message) }
      case .message(let text)?: if message != text { return differ(text, message) }
      case .containing(let part)?: if message?.contains(part) != true { return differ(part, message) }
      case .unknown?, .tooLong?: if message == nil { return differ("an error", message) }
      }
      if refusal != nil { counts.errors += 1 }
    }
    return true
  }

  private static func differ(_ expected: String, _ got: String?) -> Bool {
    Issue.record("expected \(expected), got \(got ?? "false")")
    return false
  }

  private static func packaged(_ request: NaiveRequest) -> RulesRequest {
    RulesRequest(
      RulesMethod(rawValue: request.method) ?? .get,
      RulesPath(request.path.map { String(decoding: $0, as: UTF16.self) }), auth: request.fields["auth"]?.packaged,
      resource: request.fields["resource"]?.packaged, time: request.fields["time"]?.packaged,
      existing: request.existing?.packaged)
  }

  @Test(arguments: 0..<8) func `the package decides as the oracle does, with its errors`(seed: UInt64) throws {
    let counts = try Self.compare(150, seed: seed)
    // A comparison that is mostly left out, or always of one outcome, would show nothing.
    #expect(counts.decisions > 400 && counts.skipped < counts.decisions / 4)
    #expect(counts.allowed > counts.decisions / 20 && counts.errors > counts.decisions / 10, "\(counts)")
  }
}
