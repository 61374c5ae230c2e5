import Testing

@testable import VestaRules

/// The facts about matching, order, budgets and Storage.
@Suite struct DecisionFactsTests {
  private func compiled(_ rules: String, version: String = "2") throws -> Ruleset {
    try Ruleset(
      "rules_version = '\(version)'; service cloud.firestore { match /databases/{db}/documents { \(rules) } }",
      for: .firestore)
  }

  @Test func `a listing is matched with any name`() throws {
    let rules = try compiled(
      "match /q/{id} { allow list; } match /r/abc { allow list; } match /s/{x=**} { allow list; } match /t/{a}/u/{b} { allow list; }"
    )
    func mayList(_ collection: String, below parent: String = "") -> Bool {
      rules.decide(RulesQuery(collection, below: RulesPath(notes.segments + RulesPath(parent).segments)), auth: .null)
        .isAllowed
    }
    #expect(mayList("q"))
    #expect(!mayList("r"))
    #expect(mayList("s"))
    #expect(mayList("v", below: "/s/1"))
    #expect(mayList("u", below: "/t/1"))
    #expect(!mayList("u", below: "/s2/1"))
    #expect(!mayList("t"))
  }

  @Test(arguments: [
    ("match /{p=**}/coll/{id} { allow list; }", true), ("match /coll/{id} { allow list; }", false),
    ("match /{p=**} { allow list; }", true), ("match /a/{b}/coll/{id} { allow list; }", false),
    ("match /{p=**}/other/{id} { allow list; }", false),
    ("match /{p=**}/coll/{id} { allow list: if id == 'x'; }", false),
    ("match /{p=**}/coll/{id} { allow list: if p == /a/b; }", false),
    ("match /{p=**}/coll/{id} { allow get; }", false),
  ]) func `a collection group needs a rule for every place`(rule: String, isAllowed: Bool) throws {
    let query = RulesQuery("coll", below: notes, isGroup: true)
    #expect(try compiled(rule).decide(query, auth: .null).isAllowed == isAllowed)
  }

  /// Documents that exist, in the order in which they are asked for.
  private final class Asked: RulesDocuments {
    var paths: [String] = []
    func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup {
      paths.append(path.segments.joined(separator: "/"))
      return .found(["data": ["n": 1, "list": [1]]])
    }
  }

  @Test(arguments: [
    ("exists(/x/1) == exists(/x/2)", ["x/2", "x/1"]), ("get(/x/1).data.n + get(/x/2).data.n == 2", ["x/2", "x/1"]),
    ("get(/x/1).data.n in get(/x/2).data.list", ["x/1", "x/2"]),
    ("[exists(/x/1), exists(/x/2), exists(/x/3)] != []", ["x/3", "x/2", "x/1"]),
    ("f(exists(/x/1), exists(/x/2))", ["x/2", "x/1"]), ("exists(/x/1) && exists(/x/2)", ["x/1", "x/2"]),
    ("exists(/x/1) || exists(/x/2)", ["x/1"]), ("exists(/x/1) ? exists(/x/2) : exists(/x/3)", ["x/1", "x/2"]),
  ]) func `operands are evaluated from the last one, operands of logic from the first`(
    condition: String, expected: [String]
  ) throws {
    let asked = Asked()
    let rules = try compiled("function f(a, b) { return b && a; } match /c/{id} { allow get: if \(condition); }")
    #expect(rules.decide(RulesRequest(.get, .document("c/d")), documents: asked).isAllowed)
    #expect(asked.paths == expected)
  }

  @Test func `the lookup that failed is named with its path`() throws {
    struct Failing: RulesDocuments {
      func lookUp(_ function: RulesLookupFunction, _ path: RulesPath) -> RulesLookup { .unavailable }
    }
    let text = """
      Service call error. Function: [get], Argument: [path_value {
        segments {
          simple: "a"
        }
        segments {
          simple: "b"
        }
      }
      ].
      """
    #expect(try verdict("get(/a/b) != null", documents: Failing()) == .error(text))
    #expect(try verdict("get(/a/b) != null || true", documents: Failing()) == .yes)
  }

  @Test func `a document that is missing is null`() throws {
    #expect(try verdict("get(/a/b) == null && !exists(/a/b)") == .yes)
    #expect(try verdict("get(/a/b).data.x == 1") == .error("Null value error."))
    #expect(try verdict("get(/a/b).data.x == 1 || true") == .yes)
  }

  @Test(arguments: [(100, true), (125, false)])
  func `as many terms as production evaluated are within the budget`(terms: Int, isAllowed: Bool) throws {
    let functions = (0..<(terms / 5)).map { number in
      let body = (0..<5).map { "request.auth.token.n >= \(number * 5 + $0)" }.joined(separator: " && ")
      return "function f\(number)() { return \(body); }"
    }
    let calls = (0..<(terms / 5)).map { "f\($0)()" }.joined(separator: " && ")
    let rules = try compiled("\(functions.joined(separator: "\n")) match /c/{id} { allow get: if \(calls); }")
    let decision = rules.decide(
      RulesRequest(.get, .document("c/d"), auth: ["uid": "a", "token": ["n": 1_000]]))
    #expect(decision.isAllowed == isAllowed)
    let limit = "maximum of 1000 expressions to evaluate has been reached"
    #expect(isAllowed || decision.message.hasPrefix(limit))
  }

  @Test func `a denial lists the statements of the method, or that there is none`() throws {
    let rules = try compiled(
      """

      match /c/{id} {
        allow get: if false;
        allow list: if false;
        allow read: if resource.data.x == 1;
      }
      """)
    let decision = rules.decide(RulesRequest(.get, .document("c/d"), existing: ["data": [:]]))
    #expect(decision.message == "false for 'get' @ L3\nProperty x is undefined on object. for 'get' @ L5")
    #expect(rules.decide(RulesRequest(.delete, .document("c/d"))).message == "No matching allow statements")
    #expect(rules.decide(RulesRequest(.get, .document("none/d"))).message == "No matching allow statements")
  }

  @Test(arguments: [
    ("request.query.offset == 0", true), ("request.query.limit == null", true), ("request.query.limit <= 10", false),
    ("request.query.limit == null || true", true),
    ("request.query.orderBy.f == 'ASC' && request.query.orderBy.g == 'DESC'", true),
    ("request.query.orderBy.h == 'ASC'", false), ("request.query.orderBy.keys() == ['f', 'g']", true),
    ("resource == null", false), ("request.method == 'list'", true), ("request.resource == null", false),
  ]) func `the variables of a query equal production's`(condition: String, isAllowed: Bool) throws {
    let query = RulesQuery("c", below: notes, order: [("f", false), ("g", true)])
    #expect(try ruleset(condition).decide(query, auth: .null).isAllowed == isAllowed)
  }

  @Test func `the variables of Storage equal the service's`() throws {
    func allows(
      _ condition: String, _ method: RulesMethod = .get, version: String = "2", dialect: RulesDialect = .production
    ) throws -> Bool {
      let source = """
        rules_version = '\(version)';
        service firebase.storage { match /b/{bucket}/o { match /{path=**} { allow read, write: if \(condition); } } }
        """
      return try Ruleset(source, for: .storage, dialect: dialect)
        .decide(RulesRequest(method, .object("a/b.png", bucket: "x"), existing: ["size": 5])).isAllowed
    }
    #expect(try allows("request.path == /b/x/o/a/b.png && request.path[4] == 'b.png' && bucket == 'x'"))
    #expect(try allows("request.method == 'get'"))
    #expect(try !allows("request.method == 'get'", dialect: .emulator))
    for dialect in [RulesDialect.production, .emulator] {
      #expect(try !allows("request.query == null || request.query != null", .list, dialect: dialect))
    }
    #expect(try !allows("get(/a/b) == null || exists(/a/b) || !exists(/a/b)"))
    #expect(try !allows("firestore.getAfter(/a/b) == null || true == firestore.existsAfter(/a/b)"))
    #expect(try allows("path == /a/b.png && path[0] == 'a'"))
    #expect(try allows("true", .list))
    #expect(try !allows("true", .list, version: "1"))
    #expect(try allows("true", .get, version: "1"))
  }

  @Test func `Storage looks two documents up, each counted once, and none that is cut short`() throws {
    func outcome(_ condition: String) throws -> (isAllowed: Bool, asked: Int) {
      let source =
        "rules_version = '2'; service firebase.storage { match /b/{b}/o/{p=**} { allow get: if \(condition); } }"
      let asked = Asked()
      let isAllowed = try Ruleset(source, for: .storage)
        .decide(RulesRequest(.get, .object("a", bucket: "b")), documents: asked).isAllowed
      return (isAllowed, asked.paths.count)
    }
    #expect(try outcome("firestore.exists(/x/1) && firestore.exists(/x/2)") == (true, 2))
    #expect(try outcome("firestore.exists(/x/1) && firestore.exists(/x/2) && firestore.exists(/x/3)") == (false, 2))
    #expect(
      try outcome(
        "firestore.exists(/x/1) && firestore.get(/x/1).data.n == 1 && firestore.exists(/x/1) && firestore.exists(/x/2)")
        == (true, 3))
    #expect(
      try outcome("(true || firestore.exists(/x/3)) && firestore.exists(/x/1) && firestore.exists(/x/2)") == (true, 2))
    #expect(
      try outcome("firestore.exists(/x/1) && firestore.exists(/x/2) && (firestore.exists(/x/3) || true)") == (true, 2))
    #expect(try outcome("firestore.get(/x/1).data.n == '1'") == (false, 1))
  }
}
