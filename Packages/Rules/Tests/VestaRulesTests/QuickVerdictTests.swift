import Testing
import VestaTesting

@testable import VestaRules

/// Quick decisions about gets, compared with the same decisions in full.
@Suite struct QuickVerdictTests {
  private struct Get: QuickRulesRequest {
    var auth: RulesMap?
    var data: RulesMap?

    static func isSignedIn(_ caller: RulesMap?) -> Bool { caller != nil }
    static func uid(of caller: RulesMap?) -> RulesValue? { caller?["uid"] }
    static func exists(_ resource: RulesMap?) -> Bool { resource != nil }

    static func claim(_ name: String, of caller: RulesMap?) -> RulesValue? {
      guard case .map(let token)? = caller?["token"] else { return .none }
      return token[name]
    }

    static func field(_ name: String, of resource: RulesMap?) -> RulesValue? { resource?[name] }
  }

  private static let name = "projects/p/databases/(default)/documents/c/d1"

  /// The quick verdict and the full one.
  private func verdicts(_ ruleset: Ruleset, _ get: Get, _ name: String = name) -> (quick: Bool?, full: Bool) {
    let path = RulesPath(resource: name)
    let resource: RulesValue = get.data.map { .map(.document(at: path, data: $0)) } ?? .null
    let request = RulesRequest(.get, path, auth: get.auth.map { .map($0) } ?? .null, existing: resource)
    return (ruleset.quickVerdict(get: name, get.data, by: get.auth, Get.self), ruleset.decide(request).isAllowed)
  }

  private static let common = [
    "request.auth.uid", "resource.data.owner", "id", "'ada'", "'d1'", "resource.data.open", "true",
  ]

  private static let leaves = [
    "request.auth", "request.auth.uid", "request.auth.token.role", "resource", "resource.data.owner",
    "resource.data.open", "resource.data.n", "resource.data.missing", "resource.data.list", "id", "null", "'ada'",
    "'d1'",
    "true", "1", "1.0", "a", "b.data.owner",
  ]

  private static func condition(_ random: inout SplitMix, _ depth: Int, in function: Bool) -> String {
    func leaf() -> String {
      if random.oneIn(8) { return random.pick(function ? leaves : leaves.dropLast(2)) }
      return random.pick(common + (function ? ["a"] : []))
    }
    func inner() -> String { condition(&random, depth - 1, in: function) }
    if depth == 0 || random.oneIn(4) {
      return random.oneIn(5) ? leaf() : "(\(leaf()) \(random.pick(["==", "!="])) \(leaf()))"
    }
    switch random.below(7) {
    case 0, 1: return "(\(inner()) && \(inner()))"
    case 2, 3: return "(\(inner()) || \(inner()) || \(inner()))"
    case 4: return "!\(inner())"
    case 5: return "constant()"
    default: return function ? inner() : "f(\(random.pick(["id", "'ada'", "resource", leaf()])), resource)"
    }
  }

  private static let users: [RulesMap?] = [
    nil, ["uid": "ada", "token": ["role": "admin"]], ["uid": "eve", "token": [:]],
    ["uid": "d1", "token": ["role": true]],
  ]
  private static let documents: [RulesMap?] = [
    nil, [:], ["owner": "ada", "open": true, "n": 1], ["owner": nil, "open": false, "n": .float(1)],
    ["owner": 1, "open": "true", "n": .int(2), "list": ["ada"]],
  ]

  @Test(arguments: 0..<8) func `a quick verdict is the verdict`(seed: UInt64) throws {
    var random = SplitMix(seed: 0x71_0000 + seed)
    let (quick, allowed) = try compare(80, &random) { _ in RulesLimits() }
    // Most of them are quick, and some of each kind.
    #expect(quick > 150 && allowed > 20 && quick - allowed > 20, "\(quick), \(allowed)")
  }

  @Test(arguments: 0..<4) func `a quick verdict is the verdict with every tuning`(seed: UInt64) throws {
    var random = SplitMix(seed: 0x72_0000 + seed)
    let (quick, _) = try compare(80, &random) { random in
      var limits = RulesLimits()
      limits.tuning.quickSteps = 1 + random.below(16)
      limits.tuning.quickString = random.below(6)
      limits.tuning.shortcutDepth = random.below(3)
      limits.tuning.quickWork = random.oneIn(4) ? limits.work + 1 : limits.work
      return limits
    }
    #expect(quick > 10, "\(quick)")
  }

  private static let written = [
    "request.resource.data.owner", "request.resource.data.open", "request.resource", "request.resource.data.missing",
    "request.resource.id",
  ]

  @Test(arguments: 0..<6) func `a quick verdict about a write is the verdict`(seed: UInt64) throws {
    var random = SplitMix(seed: 0x73_0000 + seed)
    var (quick, allowed) = (0, 0)
    for _ in 0..<60 {
      func condition(_ depth: Int) -> String {
        let inner = Self.condition(&random, depth, in: false)
        let compared = "\(random.pick(Self.written)) \(random.pick(["==", "!="])) \(random.pick(Self.common))"
        return random.pick([
          "\(inner) && \(compared)", "\(compared) || \(inner)", compared, "own(\(random.pick(Self.written)))",
        ])
      }
      let text = """
        rules_version = '2'; service cloud.firestore { match /databases/{database}/documents {
          function constant() { return \(random.oneIn(2)); }
          function f(a, b) { return a == b.data.owner || 'x' == a; }
          function own(d) { return \(random.oneIn(3) ? "id == 'd1'" : "d.data.owner == request.auth.uid"); }
          match /c/{id} { allow create, get: if \(condition(1)); allow update: if \(condition(2));
            allow delete, update: if \(condition(1)); }
        } }
        """
      let ruleset = try Ruleset(text, for: .firestore)
      for (method, before, after) in Self.writes {
        for user in Self.users {
          let path = RulesPath(resource: Self.name)
          func value(_ data: RulesMap?) -> RulesValue? { data.map { .map(.document(at: path, data: $0)) } }
          let request = RulesRequest(
            method, path, auth: user.map { .map($0) } ?? .null, resource: value(after), existing: value(before) ?? .null
          )
          let found = ruleset.quickVerdict(method, Self.name, before, written: after, by: user, Get.self)
          guard let found else { continue }
          quick += 1
          allowed += found ? 1 : 0
          let isAllowed = ruleset.decide(request).isAllowed
          #expect(found == isAllowed, "\(text) \(method) \(user as Any) \(before as Any) \(after as Any)")
        }
      }
    }
    #expect(quick > 80 && allowed > 25 && quick - allowed > 25, "\(quick), \(allowed)")
  }

  /// Methods with the document before and after them.
  private static let writes: [(method: RulesMethod, before: RulesMap?, after: RulesMap?)] = [
    (.create, nil, ["owner": "ada", "open": true]), (.create, nil, ["owner": 1]),
    (.update, ["owner": "ada", "open": false], ["owner": "eve", "open": false]),
    (.update, ["owner": "d1"], ["owner": "ada", "open": "true"]), (.delete, ["owner": "ada", "open": true], nil),
    (.delete, ["owner": nil], nil), (.get, ["owner": "ada"], nil), (.get, nil, nil),
  ]

  @Test func `a query has no quick verdict by the document of a write`() throws {
    let rules = try ruleset("request.auth == null")
    #expect(rules.quickVerdict(.list, Self.name, nil, written: nil, by: nil, Get.self) == nil)
    #expect(rules.quickVerdict(.create, Self.name, nil, written: [:], by: nil, Get.self) != nil)
  }

  /// Compares the verdicts of random rules; how many were quick, and how many of those allowed the get.
  private func compare(
    _ count: Int, _ random: inout SplitMix, _ limits: (inout SplitMix) -> RulesLimits
  ) throws -> (quick: Int, allowed: Int) {
    var (quick, allowed) = (0, 0)
    for _ in 0..<count {
      let functions =
        "function constant() { return \(random.oneIn(2)); }"
        + " function f(a, b) { let c = \(Self.condition(&random, 1, in: true));"
        + " return \(random.oneIn(2) ? "c && " : "")\(Self.condition(&random, 2, in: true)); }"
      let first = Self.condition(&random, 2, in: false)
      let text = """
        rules_version = '2'; service cloud.firestore { match /databases/{database}/documents {
          \(functions)
          match /{other=**} { allow get: if request.auth == null && 'a' == 'b'; }
          match /c/{id} { allow get: if \(first); allow get: if \(Self.condition(&random, 3, in: false)); }
        } }
        """
      let ruleset = try Ruleset(text, for: .firestore, limits: limits(&random))
      let usual = try Ruleset(text, for: .firestore)
      for user in Self.users {
        for document in Self.documents {
          let verdicts = verdicts(ruleset, Get(auth: user, data: document))
          #expect(verdicts.full == self.verdicts(usual, Get(auth: user, data: document)).full, "\(text)")
          guard let found = verdicts.quick else { continue }
          quick += 1
          allowed += found ? 1 : 0
          if found != verdicts.full { Issue.record("\(found) of \(text) for \(user as Any), \(document as Any)") }
        }
      }
    }
    return (quick, allowed)
  }

  @Test(arguments: [
    ("id", true), ("request.auth", true), ("1", true), ("exists(/x/1)", nil), ("resource.data.missing", nil),
  ])
  func `an argument that may fail or looks up a document is evaluated, although it is not used`(
    argument: String, expected: Bool?
  ) throws {
    let rules = try ruleset("unused(\(argument))", functions: "function unused(a) { return true; }")
    #expect(rules.quickVerdict(get: Self.name, nil, by: nil, Get.self) == expected)
  }

  @Test func `the bounds of a request hold for quick verdicts`() throws {
    var limits = RulesLimits()
    limits.expressions = 6
    let text = """
      rules_version = '2'; service cloud.firestore { match /databases/{database}/documents {
        match /c/{id} { allow get: if request.auth == null && id == 'd1' && resource == null; }
      } }
      """
    let get = Get(auth: nil, data: nil)
    let small = verdicts(try Ruleset(text, for: .firestore, limits: limits), get)
    #expect(small.quick == nil && !small.full)
    let usual = verdicts(try Ruleset(text, for: .firestore), get)
    #expect(usual.quick == true && usual.full)
    limits = RulesLimits()
    limits.work = 100
    #expect(verdicts(try Ruleset(text, for: .firestore, limits: limits), get).quick == nil)
    let long = RulesValue.string(String(repeating: "x", count: 5_000))
    let compared = try ruleset("request.auth.uid == resource.data.owner")
    #expect(verdicts(compared, Get(auth: ["uid": long], data: ["owner": long])).quick == nil)
  }

  @Test func `paths are matched in resource names as in lists of segments`() throws {
    let text = """
      rules_version = '2'; service cloud.firestore {
        match /databases/{database}/documents {
          match /a/{x}/b/{y} { allow get: if x == y; }
          match /a/{x} { allow get: if x == 'é'; }
          match /lists/{all=**} { allow get: if database == '(default)'; }
          match /deep/{p=**}/end/{z} { allow get: if z == 'z'; }
          match /one/1 { allow get; } match /one/2 { allow get; } match /one/3 { allow get; }
          match /one/4 { allow get; } match /one/5 { allow get; } match /one/6 { allow get; }
        }
      }
      """
    let ruleset = try Ruleset(text, for: .firestore)
    let paths = [
      "a/1/b/1": true, "a/1/b/2": false, "a/é": true, "a/e": false, "lists/x": true, "lists/x/y/z/w/v": true,
      "lists": true, "deep/end/z": true, "deep/1/2/3/end/z": true, "deep/1/2/end/y": false, "one/6": true,
      "one/7": false, "one/5/6": false, "lists/" + (0..<30).map { "s\($0)" }.joined(separator: "/"): true,
      "deep/" + (0..<30).map { "s\($0)" }.joined(separator: "/") + "/end/z": true, "a//1": false,
      "a/" + String(repeating: "n", count: 1_500): false, "": false,
    ]
    for (path, isAllowed) in paths {
      let name = "projects/p/databases/(default)/documents/\(path)"
      let listed = RulesPath("/databases/(default)/documents/\(path)")
      #expect(RulesPath(resource: name) == listed)
      for path in [RulesPath(resource: name), listed] {
        #expect(ruleset.decide(RulesRequest(.get, path)).isAllowed == isAllowed, "\(path.string)")
      }
      #expect(ruleset.quickVerdict(get: name, nil, by: nil, Get.self) ?? isAllowed == isAllowed, "\(path)")
    }
    // A name that is not of a project is taken as it is.
    #expect(RulesPath(resource: "project/p/a") == RulesPath("/project/p/a"))
    #expect(RulesPath(resource: "projects/p") == RulesPath([]))
    #expect(RulesPath(resource: "projects/p/a").matched.count == 1)
  }

  @Test func `what is allowed for every document is known when it is compiled`() throws {
    func everywhere(_ statements: String, _ isSignedIn: Bool = true) throws -> Bool {
      try Ruleset(
        "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents { \(statements) } }",
        for: .firestore
      ).allowsEverywhere(.get, isSignedIn: isSignedIn)
    }
    #expect(try everywhere("match /{a=**} { allow read: if true; }"))
    #expect(try everywhere("match /{a=**} { allow read; }"))
    #expect(try everywhere("function yes() { return !false; } match /{a=**} { allow get: if yes(); }"))
    #expect(try everywhere("match /c/{x} { allow get: if false; } match /{a=**} { allow get: if true; }"))
    #expect(try !everywhere("match /c/{x} { allow get: if x == 'a'; } match /{a=**} { allow get: if true; }"))
    #expect(try !everywhere("match /{a=**} { allow write: if true; }"))
    #expect(try !everywhere("match /c/{a=**} { allow get: if true; }"))
    #expect(try !everywhere("match /{c}/{a=**}/x { allow get: if true; }"))
    #expect(try everywhere("match /{a=**} { allow get: if request.auth != null; }"))
    #expect(try !everywhere("match /{a=**} { allow get: if request.auth != null; }", false))
    #expect(try everywhere("match /{a=**} { allow get: if null == request.auth; }", false))
    #expect(try !everywhere("match /{a=**} { allow get: if null == request.auth; }"))
    let everything = "rules_version = '2'; service cloud.firestore { match /{a=**} { allow read: if true; } }"
    var limits = RulesLimits()
    limits.expressions = 1
    #expect(try !Ruleset(everything, for: .firestore, limits: limits).allowsEverywhere(.get, isSignedIn: true))
    #expect(try Ruleset(everything, for: .firestore).allowsEverywhere(.get, isSignedIn: true))
    let other = try Ruleset(
      "rules_version = '2'; service firebase.storage { match /{a=**} { allow read: if true; } }", for: .storage)
    #expect(!other.allowsEverywhere(.get, isSignedIn: true))
  }

  @Test func `a statement that needs no evaluation costs as much as one that is evaluated`() throws {
    for (short, long) in [
      ("true", "true"), ("request.auth == null", "request.auth == null"), ("f()", "f()"), ("!f()", "!f()"),
    ] {
      let ruleset = try ruleset(short, functions: "function f() { return true; }")
      let request = RulesRequest(.get, RulesPath(notes.segments + ["c", "d"]))
      var quick = ruleset.budget
      _ = ruleset.decide(request, documents: NoRulesDocuments(), budget: &quick)
      var full = ruleset.budget
      _ = ruleset.trace(request, documents: NoRulesDocuments(), budget: &full)
      #expect(quick.expressions == full.expressions, "\(long)")
    }
  }

  @Test func `rules that read no time say so`() throws {
    #expect(try ruleset("request.time > timestamp.value(0)").readsTime)
    #expect(try ruleset("request.size() > 0").readsTime)
    #expect(try !ruleset("request.auth.uid == resource.data.time").readsTime)
  }

  @Test func `the readings of a filter are tried up to their limit, and beyond it known by comparisons`() throws {
    func isAllowed(_ condition: String, readings: Int) throws -> Bool {
      var limits = RulesLimits()
      limits.readings = readings
      let filter = RulesQuery.Filter.all([.field(["a"], .equal, .int(1)), .field(["b"], .equal, .int(2))])
      let text =
        "rules_version = '2'; service cloud.firestore { match /{p=**} { allow list: if \(condition); } }"
      return try Ruleset(text, for: .firestore, limits: limits).decide(
        RulesQuery("c", below: notes, filter: filter), auth: .null
      ).isAllowed
    }
    let kinds =
      "(resource.data.a is int || resource.data.a is float) && (resource.data.b is int || resource.data.b is float)"
    // Four readings: two of each number.
    #expect(try isAllowed(kinds, readings: 4))
    #expect(try !isAllowed(kinds, readings: 3))
    #expect(try !isAllowed(kinds, readings: 1))
    #expect(try isAllowed("resource.data.a == 1 && resource.data.b > 1", readings: 1))
  }
}
