import Testing
import VestaTesting

@testable import VestaRules

@Suite struct QueryTests {
  private func isAllowed(_ condition: String, _ filter: RulesQuery.Filter?, limit: Int64? = nil) throws -> Bool {
    try ruleset(condition).decide(
      RulesQuery("c", below: notes, filter: filter, limit: limit), auth: .map(["uid": .string("ada")])
    ).isAllowed
  }

  private func f(_ comparison: RulesQuery.Comparison, _ value: RulesValue) -> RulesQuery.Filter {
    .field(["f"], comparison, value)
  }

  @Test func `a list of integers answers as its values do one by one`() {
    var random = SplitMix(seed: 4_117)
    let others: [RulesValue] = [
      .float(-0.0), .float(9_007_199_254_740_992), .float(.nan), .float(.infinity), .string("1"), .bool(true), .null,
      .list([.int(1)]),
    ]
    func value() -> RulesValue {
      switch random.below(8) {
      case 0: random.pick(others)
      case 1: .int(random.pick([.min, .max, 9_007_199_254_740_992, 9_007_199_254_740_993]))
      default: .int(Int64(random.below(4)))
      }
    }
    for _ in 0..<100_000 {
      let values = (0..<random.below(5)).map { _ in value() }
      let (asked, operation) = (value(), random.pick(BinaryOperator.allCases))
      let answer = QueryFacts.oneOf(.list(values), operation, asked)
      if answer != QueryFacts.each(values, operation, asked) {
        Issue.record("\(values) \(operation) \(asked): \(String(describing: answer))")
        return
      }
    }
  }

  @Test func `bounds prove themselves and looser ones`() throws {
    #expect(try isAllowed("resource.data.f > 4", f(.greater, .int(5))))
    #expect(try isAllowed("resource.data.f >= 5", f(.greater, .int(5))))
    #expect(try !isAllowed("resource.data.f > 5", f(.greaterOrEqual, .int(5))))
    #expect(try isAllowed("resource.data.f > 4", f(.greaterOrEqual, .int(5))))
    #expect(try isAllowed("10 >= resource.data.f", f(.less, .int(10))))
    #expect(try !isAllowed("resource.data.f == 5", .all([f(.greaterOrEqual, .int(5)), f(.lessOrEqual, .int(5))])))
    #expect(try isAllowed("resource.data.f != 5", f(.notIn, .list([.int(4), .int(5)]))))
    #expect(try isAllowed("!(resource.data.f == 5)", f(.notEqual, .int(5))))
  }

  @Test func `a range proves that no value outside of it is met`() throws {
    #expect(try isAllowed("resource.data.f != 0", f(.greater, .int(0))))
    #expect(try isAllowed("!(resource.data.f == 4)", f(.greaterOrEqual, .int(5))))
    #expect(try isAllowed("resource.data.f != 'b'", f(.less, .string("a"))))
    #expect(try isAllowed("10 != resource.data.f", f(.lessOrEqual, .int(9))))
    #expect(try isAllowed("resource.data.f != 10", f(.less, .int(10))))
    #expect(try !isAllowed("resource.data.f != 5", f(.greaterOrEqual, .int(5))))
    #expect(try !isAllowed("resource.data.f != 6", f(.greater, .int(5))))
    #expect(try !isAllowed("resource.data.f == 6", f(.greater, .int(5))))
    #expect(try !isAllowed("resource.data.f != 'a'", f(.greater, .int(5))))
  }

  @Test func `a field that a filter does not fix counts as an error`() throws {
    #expect(try !isAllowed("!(resource.data.other == 1)", f(.equal, .int(1))))
    #expect(try isAllowed("resource.data.other == 1 || true", nil))
    #expect(try isAllowed("!(resource.data.other == 1 && false)", nil))
    #expect(try !isAllowed("id == 'd1' || id != 'd1'", nil))
    #expect(try !isAllowed("resource == null", nil))
    #expect(try !isAllowed("'other' in resource.data", f(.equal, .int(1))))
    #expect(try !isAllowed("!('other' in resource.data)", f(.equal, .int(1))))
    #expect(try !isAllowed("resource.data.get('other', 5) == 5", f(.equal, .int(1))))
    #expect(try !isAllowed("exists(/databases/$(database)/documents/c/$(id)) || false", nil))
  }

  @Test func `a condition on a field says that it is there`() throws {
    let other = f(.notEqual, .string("eve"))
    let inner = RulesQuery.Filter.field(["a", "b"], .greaterOrEqual, .int(1))
    for filter in [f(.equal, .string("ada")), f(.greater, .int(1)), f(.arrayContains, .int(1)), other] {
      for condition in [
        "'f' in resource.data", "resource.data.keys().hasAll(['f'])", "resource.data.keys().hasAny(['f', 'g'])",
        "'f' in resource.data.keys()", "resource.data.keys().toSet().hasAll(['f'])",
        "resource.data.diff({}).addedKeys().hasAny(['f'])", "resource.data.diff({}).affectedKeys().hasAll(['f'])",
        "'data' in resource && resource.data != null && resource != null",
      ] {
        #expect(try isAllowed(condition, filter), "\(condition)")
        #expect(try !isAllowed("!(\(condition))", filter), "\(condition)")
      }
      for condition in [
        "resource.data.keys().hasAll(['f', 'g'])", "resource.data.keys().hasOnly(['f'])", "'g' in resource.data",
        "resource.data.diff({'f': 1}).addedKeys().hasAny(['f'])", "resource.data.keys().hasAny([])",
        "'f' in resource.data.diff({})", "resource.data.size() == 1", "resource.data.diff({}).hasAny(['f'])",
      ] {
        #expect(try !isAllowed(condition, filter), "\(condition)")
      }
    }
    #expect(try isAllowed("'a' in resource.data && 'b' in resource.data.a && resource.data.a is map", inner))
    #expect(try !isAllowed("'c' in resource.data.a || resource.data.a is string", inner))
  }

  @Test func `a field that the filter speaks of needs no other value`() throws {
    let mine = f(.equal, .string("ada"))
    #expect(try isAllowed("resource.data.get('f', '') == request.auth.uid", mine))
    #expect(try isAllowed("resource.data.get(['f'], '') == request.auth.uid", mine))
    #expect(try isAllowed("resource.get('data', {}).f == request.auth.uid", mine))
    #expect(try isAllowed("resource != null && resource.data.get('f', null) == request.auth.uid", mine))
    #expect(try isAllowed("resource.data.get('f', 'x') in ['a', 'ada']", f(.isIn, ["a", "ada"])))
    #expect(try !isAllowed("resource.data.get('f', 'x') in ['a', 'x']", f(.isIn, ["a", "ada"])))
    #expect(try isAllowed("resource.data.get('f', 0) > 4", f(.greater, .int(5))))
    #expect(try isAllowed("request.auth.uid in resource.data.get('f', [])", f(.arrayContains, "ada")))
    #expect(try isAllowed("'f' in resource.data && resource.data.f", f(.equal, true)))
    #expect(try isAllowed("resource.data.get(['a', 'b'], 0) == 1", .field(["a", "b"], .equal, 1)))
    #expect(try isAllowed("resource.data.get('a', {}).get('b', 0) == 1", .field(["a", "b"], .equal, 1)))
    // The other value is evaluated all the same.
    #expect(try !isAllowed("resource.data.get('f', request.auth.none) == 'ada'", mine))
    #expect(try !isAllowed("resource.data.get('f', resource.data.other) == 'ada'", mine))
    #expect(try !isAllowed("resource.data.get('f') == 'ada'", mine))
  }

  @Test func `a list that has a value has one of several`() throws {
    let filter = f(.arrayContains, "ada")
    #expect(try isAllowed("resource.data.f.hasAny([request.auth.uid])", filter))
    #expect(try isAllowed("resource.data.get('f', []).hasAny(['bob', 'ada'])", filter))
    #expect(try isAllowed("resource.data.f.hasAny([1, 2.0])", f(.arrayContainsAny, [1, 2])))
    #expect(try !isAllowed("resource.data.f.hasAny([1])", f(.arrayContainsAny, [1, 2])))
    #expect(try !isAllowed("resource.data.f.hasAll(['ada'])", filter))
    #expect(try !isAllowed("resource.data.f.hasAny(['bob'])", filter))
    #expect(try !isAllowed("resource.data.f.hasAny([[1]])", f(.arrayContains, [1])))
  }

  @Test func `members of arrays, nested fields and alternatives`() throws {
    #expect(try isAllowed("request.auth.uid in resource.data.f", f(.arrayContains, .string("ada"))))
    #expect(try !isAllowed("resource.data.f[0] == 'ada'", f(.arrayContains, .string("ada"))))
    #expect(try isAllowed("resource.data.a.b == 1", .field(["a", "b"], .equal, .int(1))))
    #expect(try !isAllowed("resource.data.a == {'b': 1}", .field(["a", "b"], .equal, .int(1))))
    #expect(try isAllowed("resource.data.f in [1, 2]", f(.isIn, .list([.int(1), .int(2)]))))
    #expect(try !isAllowed("resource.data.f in [1, 2]", f(.isIn, .list([.int(1), .int(3)]))))
    #expect(try !isAllowed("request.query.limit <= 10", nil))
    #expect(try isAllowed("request.query.limit <= 10 && request.query.offset == 0", nil, limit: 10))
  }

  @Test(
    arguments: [
      "request.query.limit == 10", "request.query['limit'] == 10", "request['query'].limit == 10",
      "[request][0].query.limit == 10", "request.keys().hasAll(['query'])",
    ])
  func `rules see the query however they name it`(condition: String) throws {
    let list = RulesValue.list([.int(1), .int(2)])
    for filter in [nil, f(.equal, .int(1)), f(.isIn, list)] {
      #expect(try isAllowed(condition, filter, limit: 10))
      #expect(try !isAllowed("!(\(condition))", filter, limit: 10))
    }
  }

  @Test func `a query is decided alike at once, together and by each of its alternatives`() throws {
    let conditions = [
      "request.auth.uid == resource.data.f", "resource.data.f == 'ada' && resource.data.g != 'x'",
      "request.auth != null && resource.data.g == 'x'", "resource.data.f == resource.data.g", "resource.data.f",
      "!resource.data.f", "resource.data.f is string", "resource.data.f is int", "resource.data.f >= 0",
      "resource.data.f > 1 && resource.data.f < 9", "resource.data.f != 7", "resource.data.f != 'eve'",
      "resource.data.f == [1]", "resource == null || resource.data.f == 'ada'",
      "resource.data.f in ['ada', 'bob', 1, 2]",
      "request.auth.token.role == resource.data.f", "id == 'ada' || resource.data.f == 'ada'", "resource.data.f < 'b'",
    ]
    let values: [RulesValue] = [
      "ada", "bob", 1, 1.0, 2, .int(0), .float(-0.0), true, nil, .float(.nan), [1], ["x": 1],
    ]
    var filters: [RulesQuery.Filter?] = [nil] + values.map { f(.equal, $0) }
    let lists: [[RulesValue]] = [
      values, ["ada"], ["ada", "bob"], [1, 2], [2, 2.0], [true, true], [1, "ada"], [[1], [1]], [nil], [],
    ]
    filters += lists.map { f(.isIn, .list($0)) }
    filters += values.map { .all([.field(["g"], .equal, "x"), f(.isIn, .list([$0, $0]))]) }
    filters += values.map { .all([f(.equal, $0), .field(["g"], .isIn, .list(["x", $0]))]) }
    filters += [.any([f(.equal, "ada"), f(.isIn, ["ada", "bob"])]), .all([f(.notEqual, 7), f(.isIn, [1, 2])])]
    var allowed = 0
    for condition in conditions {
      let compiled = try ruleset(condition)
      for filter in filters {
        let query = RulesQuery("c", below: notes, filter: filter)
        let auth: RulesValue = ["uid": "ada", "token": ["role": "x"]]
        let isAllowed = compiled.decide(query, auth: auth).isAllowed
        // A trace shows every expression of every alternative.
        let trace = compiled.trace(query, auth: auth).decision.isAllowed
        #expect(isAllowed == trace, "\(condition), \(String(describing: filter))")
        allowed += isAllowed ? 1 : 0
      }
    }
    #expect(allowed > 50)
  }

  @Test func `all values of a filter count against the limit of expressions`() throws {
    let condition = (0..<12).map { "resource.data.f != \(100 + $0)" }.joined(separator: " && ")
    // Less than 1,000 expressions for ten values, and more for thirty.
    #expect(try isAllowed(condition, f(.isIn, .list((0..<10).map { .int($0) }))))
    #expect(try !isAllowed(condition, f(.isIn, .list((0..<30).map { .int($0) }))))
  }

  @Test func `the values of conditions that all hold are proved together, others are not`() {
    let (one, two, three) = (f(.equal, 1), f(.isIn, [1, 2]), RulesQuery.Filter.field(["g"], .isIn, [1, 2, 3]))
    #expect(two.joined(limit: 30)?.count == 2)
    #expect(RulesQuery.Filter.all([one, two]).joined(limit: 30)?.count == 2)
    #expect(RulesQuery.Filter.all([two, one, three]).joined(limit: 30)?.count == 6)
    #expect(RulesQuery.Filter.all([two, three]).joined(limit: 6)?.conditions.count == 2)
    #expect(RulesQuery.Filter.all([two, three]).joined(limit: 5) == nil)
    #expect(RulesQuery.Filter.all([.all([two]), .any([one, two])]).joined(limit: 30) == nil)
    #expect(RulesQuery.Filter.all([one, one]).joined(limit: 30) == nil)
  }

  @Test func `values that are proved together take as much of the caller's budget as one by one`() throws {
    let compiled = try ruleset("resource.data.f >= 1 && resource.data.f < 9")
    func used(_ count: Int) -> Int {
      var budget = compiled.budget
      let filter = f(.isIn, .list((1...count).map { .int(Int64($0)) }))
      let query = RulesQuery("c", below: notes, filter: filter)
      let decision = compiled.decide(query, auth: .null, time: .null, documents: NoRulesDocuments(), budget: &budget)
      #expect(decision.isAllowed)
      return compiled.budget.expressions - budget.expressions
    }
    #expect(used(1) > 0)
    #expect(used(2) == 2 * used(1))
    #expect(used(8) == 8 * used(1))
  }

  @Test func `a capture of any segment of a query's path is known`() throws {
    for (condition, isKnown) in [("root == 'databases'", true), ("kind == 'documents'", true), ("id == 'd'", false)] {
      let text = """
        rules_version = '2'; service cloud.firestore {
          match /{root}/{database}/{kind}/c/{id} { allow list: if \(condition); }
        }
        """
      for filter in [nil, f(.equal, .int(1)), f(.isIn, [1, 2])] {
        let query = RulesQuery("c", below: notes, filter: filter)
        #expect(try Ruleset(text, for: .firestore).decide(query, auth: .null).isAllowed == isKnown, "\(condition)")
      }
    }
  }

  @Test func `a filter that can find nothing, because of null or NaN, proves every comparison`() throws {
    let nan = RulesValue.float(.nan)
    let filters = [
      f(.greater, .null), f(.lessOrEqual, .null), f(.less, nan), f(.greaterOrEqual, nan), f(.arrayContains, .null),
      f(.isIn, .list([.null, nan])), f(.arrayContainsAny, .list([nan])), f(.notIn, .list([.int(1), .null])),
      .all([f(.greater, .null), .field(["g"], .equal, .int(1))]), .any([]),
    ]
    for filter in filters {
      #expect(try isAllowed("resource.data.f == 5 && resource.data.g.h > 'a' && 1 in resource.data.x", filter))
      // Only the documents are none: what is asked of the caller counts, and so do errors of types.
      #expect(try !isAllowed("resource.data.f == 5 && request.auth.uid == 'eve'", filter))
      #expect(try !isAllowed("resource.data.f > true", filter))
      #expect(try !isAllowed("resource.data.f is string", filter))
      #expect(try !isAllowed("false", filter))
    }
    // One alternative that finds something has to be proved.
    #expect(try !isAllowed("resource.data.f == 5", .any([f(.greater, .null), f(.equal, .int(4))])))
    #expect(try isAllowed("resource.data.f == 4", .any([f(.greater, .null), f(.equal, .int(4))])))
    #expect(try isAllowed("resource.data.f == null", f(.equal, .null)))
    #expect(try !isAllowed("resource.data.f == 5", f(.notEqual, .null)))
    #expect(try !isAllowed("resource.data.f == 5", f(.notIn, .list([nan]))))
  }

  @Test func `all alternatives share the lookups of a query`() throws {
    struct All: RulesDocuments {
      func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup { .found(["data": .map([:])]) }
    }
    let compiled = try ruleset("exists(/databases/$(database)/documents/x/$(resource.data.f))")
    func decide(_ count: Int) -> Bool {
      let values = RulesValue.list((0..<count).map { .string("k\($0)") })
      return compiled.decide(
        RulesQuery("c", below: notes, filter: f(.isIn, values)), auth: nil, documents: All()
      ).isAllowed
    }
    #expect(decide(10))
    #expect(!decide(11))
  }

  @Test func `a number that a filter fixes may be an integer or a float`() throws {
    #expect(try !isAllowed("resource.data.f is int", f(.equal, .int(1))))
    #expect(try !isAllowed("resource.data.f is float", f(.equal, .float(1))))
    #expect(try isAllowed("resource.data.f is float", f(.equal, .float(2.5))))
    #expect(try isAllowed("resource.data.f is number && resource.data.f + 1 == 2", f(.equal, .int(1))))
    #expect(try !isAllowed("resource.data.f / 2 == 0", f(.isIn, .list([.string("a"), .int(1)]))))
    let two = RulesQuery.Filter.all([f(.equal, .int(1)), .field(["g"], .equal, .float(2))])
    #expect(try !isAllowed("resource.data.f is int || resource.data.g is float", two))
    #expect(try isAllowed("resource.data.f is int || resource.data.f is float && resource.data.g == 2", two))
    // Several readings of one alternative use the budget once.
    let many = RulesQuery.Filter.field(["f"], .isIn, .list((0..<30).map { .int($0) }))
    let rule = (0..<4).map { "resource.data.f >= -\($0)" }.joined(separator: " && ")
    #expect(try isAllowed(rule, many))
  }

  @Test func `a filter may have as many alternatives as the limit says`() throws {
    var limits = RulesLimits()
    limits.alternatives = 3
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{d}/documents/c/{id} { allow list: if resource.data.f > 0; } }
      """
    let compiled = try Ruleset(source, for: .firestore, limits: limits)
    for count in 1...5 {
      let values = (1...count).map { RulesValue.int(Int64($0)) }
      let filter = RulesQuery.Filter.any(values.map { .field(["f"], .equal, $0) })
      let decision = compiled.decide(RulesQuery("c", below: notes, filter: filter), auth: .null)
      #expect(decision.isAllowed == (count <= 3), "\(count) alternatives")
    }
  }

  @Test func `a filter with too many alternatives is denied`() throws {
    let each = RulesQuery.Filter.any((0..<8).map { f(.equal, .int($0)) })
    #expect(try !isAllowed("true", .all([each, each, each])))
  }

  // MARK: Soundness

  private static let values: [RulesValue] = [
    .int(1), .int(2), .int(3), .float(1), .float(2), .float(2.5), .string("a"), .string("b"), .null, .bool(true),
    .list([.int(1)]),
    .list([.int(2), .int(1)]),
  ]
  private static let fields = ["a", "b"]

  private func matches(_ filter: RulesQuery.Filter, _ document: RulesMap) -> Bool {
    switch filter {
    case .all(let filters): return filters.allSatisfy { matches($0, document) }
    case .any(let filters): return filters.contains { matches($0, document) }
    case .field(let field, let comparison, let value):
      guard let own = document[field[0]] else { return false }
      func isNumber(_ value: RulesValue) -> Bool { value.type == .int || value.type == .float }
      let isComparable = own.type == value.type || isNumber(own) && isNumber(value)
      let order = isComparable ? Arithmetic.order(own, value) : nil
      switch comparison {
      case .equal: return own == value
      case .notEqual: return own != value && own != .null
      case .less: return order == .before
      case .lessOrEqual: return order == .before || order == .same
      case .greater: return order == .after
      case .greaterOrEqual: return order == .after || order == .same
      // Null is found by `==` and `!=` alone.
      case .isIn: if case .list(let list) = value { return own != .null && list.contains(own) }
      case .notIn:
        if case .list(let list) = value { return own != .null && !list.contains(own) && !list.contains(.null) }
      case .arrayContains: if case .list(let list) = own { return value != .null && list.contains(value) }
      case .arrayContainsAny:
        if case .list(let list) = own, case .list(let wanted) = value {
          return wanted.contains { $0 != .null && list.contains($0) }
        }
      }
      return false
    }
  }

  private func filter(_ random: inout SplitMix, _ depth: Int) -> RulesQuery.Filter {
    if depth > 0, random.oneIn(2) {
      let inner = (0..<(1 + random.below(3))).map { _ in filter(&random, depth - 1) }
      return random.oneIn(2) ? .all(inner) : .any(inner)
    }
    let comparison = random.pick(RulesQuery.Comparison.allCases)
    let several = RulesValue.list((0..<(1 + random.below(3))).map { _ in random.pick(QueryTests.values) })
    let takesList = [.isIn, .notIn, .arrayContainsAny].contains(comparison)
    return .field([random.pick(QueryTests.fields)], comparison, takesList ? several : random.pick(QueryTests.values))
  }

  private func condition(_ random: inout SplitMix, _ depth: Int) -> String {
    if depth > 0, !random.oneIn(4) {
      let (left, right) = (condition(&random, depth - 1), condition(&random, depth - 1))
      return random.pick([
        "(\(left) && \(right))", "(\(left) || \(right))", "!\(left)", "(\(left) ? \(right) : \(left))",
      ])
    }
    let field = "resource.data.\(random.pick(QueryTests.fields))"
    let value = random.pick(["1", "2", "3", "'a'", "null", "true", "[1]", "resource.data.a"])
    let sign = random.pick(["==", "!=", "<", "<=", ">", ">="])
    return random.pick([
      "(\(field) \(sign) \(value))", "(\(value) \(sign) \(field))", "(\(value) in \(field))",
      "(\(field) in [1, 'a', \(value)])",
      "(\(field) is string)", "(\(field) is int)", "(\(field) is float)", "(\(field) / 2 == 0)",
      "(string(\(field)) == '1')", "(\(field).size() > 0)", "('a' in resource.data)", "(\(field)[0] == 1)",
      "(id == 'd1')",
    ])
  }

  @Test(arguments: 0..<10) func `an allowed query returns no document whose own list is denied`(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    var proved = 0
    for _ in 0..<150 {
      let text = condition(&random, 3)
      let compiled = try ruleset(text)
      for _ in 0..<4 {
        let filter = filter(&random, 2)
        guard compiled.decide(RulesQuery("c", below: notes, filter: filter), auth: .null).isAllowed else { continue }
        proved += 1
        for _ in 0..<10 {
          let members = QueryTests.fields.filter { _ in !random.oneIn(4) }.map {
            RulesMap.Member($0, random.pick(QueryTests.values))
          }
          let document = RulesMap(members)
          guard matches(filter, document) else { continue }
          let own = RulesRequest(
            .list, RulesPath(notes.segments + ["c", random.pick(["d1", "d2"])]),
            existing: .map(["data": .map(document)]))
          #expect(compiled.decide(own).isAllowed, "seed \(seed): \(text) with \(filter) returned \(document)")
        }
      }
    }
    #expect(proved > 0)
  }
}
