import Testing

@testable import VestaRules

/// Lists of literals, data of the request and names of maps take a short way; a trace evaluates everything in full.
@Suite struct ShortWayTests {
  private static let data: RulesMap = [
    "a": 1, "b": "x", "c": nil, "d": ["x", "y"], "owner": "ada", "tags": ["x": 1, "y": 2], "z": 2.5,
  ]

  /// A get, and a creation with `request.resource`.
  private static let requests: [RulesRequest] = {
    let path = RulesPath(notes.segments + ["c", "d1"])
    let document = RulesValue.map(.document(at: path, data: data))
    let auth: RulesValue = ["uid": "ada"]
    return [
      RulesRequest(.get, path, auth: auth, existing: document),
      RulesRequest(.create, path, auth: auth, resource: document, existing: .null),
      RulesRequest(.update, path, auth: auth, resource: ["data": 1], existing: ["id": "d1"]),
      RulesRequest(.update, path, auth: auth, resource: ["data": ["b": "x"]], existing: document),
      RulesRequest(.delete, path, auth: auth, existing: nil),
    ]
  }()

  private static let conditions = [
    "resource.data.owner == 'ada' && resource.data.missing == 1 || resource.data['b'] == 'x'",
    "request.resource.data.owner == 'ada' || request.resource.data['b'] in ['x', 'y', 1]",
    "request.resource.data[id] == 1 || resource.data[1] == 2 || resource.data[null] == 2",
    "request.resource.data.keys().hasOnly(['a', 'b', 'c', 'd', 'owner', 'tags', 'z', 'more', 'a'])",
    "request.resource.data.keys().hasAll(['b', 'owner']) || resource.data.keys().hasAll(['nope'])",
    "request.resource.data.keys().hasAny([1, null, 'z']) && resource.data.keys().hasAny([])",
    "resource.data.keys().hasAll([]) && resource.data.keys().hasOnly([])",
    "resource.data.keys().hasAll(['a', 1]) || resource.data.keys().hasOnly(['a', 1, ['a']].toSet())",
    "resource.data.keys().hasAll('a') || resource.data.keys().hasOnly() || resource.data.keys().hasAny(['b'], 1)",
    "resource.data.tags.keys().hasOnly(['x', 'y'].toSet()) && resource.data.d.keys().hasOnly(['x'])",
    "resource.data.c.keys().hasAll(['x']) || resource.data.keys(1).hasAll(['x']) || nope.keys().hasAll([1 / 0])",
    "resource.data.keys().hasAll(exists(/a/$(1 / 0)) ? ['a'] : ['b']) || [1, [2, 3], -1, 'x'].size() == 4",
    "f(['a', 'b', 'c'], resource.data) || f(['b'], request.resource.data)",
    "resource.data.keys().hasAll([resource.data.b]) || {'a': ['x']}.keys().hasOnly(['a'])",
  ]

  /// Makes a decision both ways with every budget up to one that is large enough.
  @Test(arguments: conditions) func `a short way is the long way`(condition: String) throws {
    let functions = "function f(names, data) { return data.keys().hasAll(names) && data.keys().hasOnly(names); }"
    let rules = try ruleset(condition, functions: functions)
    for request in Self.requests {
      for expressions in 0...90 {
        var (short, long) = (rules.budget, rules.budget)
        (short.expressions, long.expressions) = (expressions, expressions)
        let decision = rules.decide(request, documents: NoRulesDocuments(), budget: &short)
        let traced = rules.trace(request, documents: NoRulesDocuments(), budget: &long).decision
        #expect(decision.verdict == traced.verdict && decision.message == traced.message, "\(request) \(expressions)")
        #expect(short.expressions == long.expressions, "\(request.method) \(expressions)")
        #expect(decision.statements.map(\.failurePosition) == traced.statements.map(\.failurePosition))
      }
    }
  }

  /// The names of a map: by bits up to 64 of them, by a list beyond.
  @Test(arguments: [0, 1, 4, 5, 63, 64, 65, 100]) func `the names of maps of every size are compared`(count: Int) throws
  {
    let rules = try ruleset(
      "resource.data.m.keys().hasOnly(resource.data.names) == resource.data.only"
        + " && resource.data.m.keys().hasAll(resource.data.names) == resource.data.all"
        + " && resource.data.m.keys().hasAny(resource.data.names) == resource.data.any")
    let names = (0..<count).map { "n\($0)" }
    let map = RulesValue.map(RulesMap(names.map { RulesMap.Member($0, 1) }))
    func holds(_ listed: [String], only: Bool, all: Bool, any: Bool) -> Bool {
      let data: RulesMap = [
        "m": map, "names": .list(listed.map { .string($0) }), "only": .bool(only), "all": .bool(all), "any": .bool(any),
      ]
      let path = RulesPath(notes.segments + ["c", "d1"])
      return rules.decide(RulesRequest(.get, path, existing: .map(.document(at: path, data: data)))).isAllowed
    }
    #expect(holds(names, only: true, all: true, any: count > 0))
    #expect(holds(names + names, only: true, all: true, any: count > 0))
    #expect(holds(names + ["other"], only: true, all: false, any: count > 0))
    #expect(holds(["other"], only: count == 0, all: false, any: false))
    #expect(holds([], only: count == 0, all: true, any: false))
    guard count > 1 else { return }
    #expect(holds(Array(names.dropLast()), only: false, all: true, any: true))
    #expect(holds([names[0], names[0]], only: false, all: true, any: true))
  }
}
