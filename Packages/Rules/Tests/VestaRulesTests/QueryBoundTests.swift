import Testing

@testable import VestaRules

/// What the bounds of a query and the documents that it names prove: with too much of it a query would return documents
/// that the rules refuse.
@Suite struct QueryBoundTests {
  /// Each bound against each condition, by what they say of all halves around both.
  @Test(arguments: [RulesQuery.Comparison.less, .lessOrEqual, .greater, .greaterOrEqual])
  func `a bound proves what holds for every number within it, and nothing else`(bound: RulesQuery.Comparison) throws {
    func holds(_ sign: String, _ left: Double, _ right: Double) -> Bool {
      switch sign {
      case "<": left < right
      case "<=": left <= right
      case ">": left > right
      case ">=": left >= right
      case "==": left == right
      default: left != right
      }
    }
    let numbers = (0...20).map { Double($0) / 2 }
    for sign in ["<", "<=", ">", ">=", "==", "!="] {
      for value in 4...6 {
        let isProved = numbers.filter { holds(bound.rawValue, $0, 5) }.allSatisfy { holds(sign, $0, Double(value)) }
        let condition = "resource.data.f \(sign) \(value)"
        let query = RulesQuery("c", below: notes, filter: .field(["f"], bound, .int(5)))
        #expect(
          try ruleset(condition).decide(query, auth: .null).isAllowed == isProved,
          "\(bound.rawValue) 5 and \(condition)")
      }
    }
  }

  private struct Documents: RulesDocuments {
    func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
      switch path.segments.last {
      case "mine": .found(["data": ["owner": "ada"]])
      case "other": .found(["data": ["owner": "eve"]])
      default: .missing
      }
    }
  }

  @Test(arguments: [
    (["c/mine"], true, true), (["c/mine", "c/mine"], true, true), (["c/mine", "c/other"], false, false),
    (["c/other"], false, false), (["c/gone"], false, false), ([], false, false), (["c/mine", "d/mine"], false, false),
    (["d/mine"], false, false), (["c/a/c/mine"], false, true), (["c/a/d/mine"], false, false), (["mine"], false, false),
  ])
  func `a query that names its documents is allowed where all are in its collection and each is allowed`(
    names: [String], isAllowed: Bool, isAllowedInGroup: Bool
  ) throws {
    let rules = "match /{all=**} { allow list: if resource.data.owner == 'ada'; }"
    let compiled = try Ruleset("rules_version = '2'; service cloud.firestore { \(rules) }", for: .firestore)
    for isGroup in [false, true] {
      var query = RulesQuery("c", below: notes, isGroup: isGroup)
      #expect(!compiled.decide(query, auth: .null, documents: Documents()).isAllowed)
      query.names = names.map { RulesPath(notes.segments + RulesPath($0).segments) }
      let decision = compiled.decide(query, auth: .null, documents: Documents())
      #expect(decision.isAllowed == (isGroup ? isAllowedInGroup : isAllowed), "\(names), \(isGroup)")
    }
  }
}
