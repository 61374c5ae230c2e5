import BenchmarkKit
import VestaPatterns
import VestaRules
import VestaRulesTesting

private let documents = RulesPath("/databases/(default)/documents")
private let ada: RulesValue = ["uid": "ada", "token": ["sub": "ada"]]

private func compiled(_ text: String) -> Ruleset? {
  try? Ruleset(
    "rules_version = '2';\nservice cloud.firestore {\nmatch /databases/{database}/documents {\n\(text)\n}\n}\n",
    for: .firestore)
}

// MARK: Sizes

var siblings: Benchmark? {
  func rules(_ count: Int) -> Ruleset? {
    compiled((0..<count).map { "match /c\($0)/{id} { allow get: if request.auth.uid == id; }" }.joined(separator: "\n"))
  }
  guard let one = rules(1), let many = rules(1_000) else { return nil }
  let request = RulesRequest(.get, RulesPath(documents.segments + ["c0", "ada"]), auth: ada)
  precondition(one.decide(request).isAllowed && many.decide(request).isAllowed)
  return Benchmark(
    name: "rules-siblings", bar: .ratio(atMost: 3),
    ours: ("among 1,000 matches", { sum(100_000) { many.decide(request).isAllowed ? 1 : 0 } }),
    other: ("the only match", { sum(100_000) { one.decide(request).isAllowed ? 1 : 0 } }))
}

var coverage: Benchmark? {
  recorded("rules-coverage", "with coverage", bar: 1.2) { ruleset in
    let coverage = RulesCoverage(of: ruleset)
    return { coverage.decide($0).isAllowed }
  }
}

var trace: Benchmark? {
  recorded("rules-trace", "with a trace", bar: 10) { ruleset in { ruleset.trace($0).decision.isAllowed } }
}

/// The cost of a trace whose text is read, as by a failed test.
var traceText: Benchmark? {
  recorded("rules-trace-text", "with a trace and its text", bar: nil) { ruleset in
    { ruleset.trace($0).description.isEmpty ? false : true }
  }
}

private func recorded(
  _ name: String, _ label: String, bar: Double?,
  _ make: (Ruleset) -> @Sendable (RulesRequest) -> Bool
) -> Benchmark? {
  let text =
    "match /notes/{id} { allow get: if request.auth != null && resource.data.owner == request.auth.uid && id.size() > 0; }"
  guard let ruleset = compiled(text) else { return nil }
  let request = RulesRequest(
    .get, RulesPath(documents.segments + ["notes", "n1"]), auth: ada, existing: ["data": ["owner": "ada"]])
  let decide = make(ruleset)
  precondition(decide(request))
  return Benchmark(
    name: name, bar: bar.map { .ratio(atMost: $0) } ?? .none,
    ours: (label, { sum(20_000) { decide(request) ? 1 : 0 } }),
    other: ("without", { sum(20_000) { ruleset.decide(request).isAllowed ? 1 : 0 } }),
    samples: { samples(20_000) { decide(request) ? 1 : 0 } })
}

// MARK: Compiling

private func source(ofSize size: Int) -> String {
  var text = "rules_version = '2';\nservice cloud.firestore {\nmatch /databases/{database}/documents {\n"
  var number = 0
  while text.utf8.count < size - 300 {
    text += """
      match /collection\(number)/{id} {
        function isOwner\(number)() { return request.auth != null && request.auth.uid == resource.data.owner; }
        allow read: if isOwner\(number)() && resource.data.kind in ['a', 'b'] && id.matches('[a-z]+[0-9]*');
        allow write: if request.resource.data.keys().hasOnly(['a', 'b', 'c']) && request.resource.data.a is string;
      }

      """
    number += 1
  }
  return text + "}\n}\n"
}

/// A thousand checks of a test: a tester, and a get that is allowed and one that is denied in turns.
var assertions: Benchmark? {
  let source = """
    rules_version = '2';
    service cloud.firestore { match /databases/{d}/documents {
      match /notes/{id} { allow read: if request.auth != null && resource.data.owner == request.auth.uid; }
    } }
    """
  @Sendable func checks() -> Int {
    guard var rules = try? RulesTester(firestore: source) else { return 0 }
    rules.documents["notes/n1"] = ["owner": "ada"]
    for _ in 0..<500 {
      guard (try? rules.allows(get: "notes/n1", as: .user("ada"))) != nil,
        (try? rules.denies(get: "notes/n1", as: .nobody)) != nil
      else { return 0 }
    }
    return 1
  }
  precondition(checks() == 1)
  return Benchmark(
    name: "rules-assertions", unit: .microseconds, bar: .figure(atMost: 500_000),
    ours: ("1,000 assertions", { sum(10) { checks() } }),
    other: ("nothing", { 0 }), samples: { samples(50) { checks() } })
}

private func compiling(_ name: String, _ size: Int, milliseconds: Double, count: Int) -> Benchmark {
  let text = source(ofSize: size)
  let bytes = Array(text.utf8)
  return Benchmark(
    name: name, unit: .microseconds, bar: .figure(atMost: milliseconds * 1_000),
    ours: ("\(size / 1_000) KB compiled", { sum(count) { (try? Ruleset(text, for: .firestore)) == nil ? 0 : 1 } }),
    other: ("its bytes summed", { sum(count) { bytes.reduce(0) { $0 &+ Int($1) } } }),
    samples: { samples(count) { (try? Ruleset(text, for: .firestore)) == nil ? 0 : 1 } })
}

var compileSmall: Benchmark? { compiling("rules-compile-10k", 10_000, milliseconds: 3, count: 200) }
var compileLarge: Benchmark? { compiling("rules-compile-256k", 256_000, milliseconds: 100, count: 10) }

var hostilePattern: Benchmark? {
  let text = String(repeating: "a", count: 1 << 16)
  guard let table = try? Pattern("(a*)*b"), let machine = try? Pattern("(a*)*b", isReused: false) else { return nil }
  return Benchmark(
    name: "rules-pattern", unit: .microseconds, bar: .figure(atMost: 10_000),
    ours: ("(a*)*b on 64 KB of a, no table", { sum(20) { machine.matchesWhole(text) ? 1 : 0 } }),
    other: ("with the table", { sum(20) { table.matchesWhole(text) ? 1 : 0 } }))
}
