import Testing
import VestaRules
import VestaRulesTesting

/// Every check against rules that allow everything and rules that allow nothing.
@Suite struct EveryCheckTests {
  /// One check that holds and one that does not; both have to look.
  private func expect(_ isAllowed: Bool, allows: () throws -> Void, denies: () throws -> Void, line: Int = #line) {
    expect(isAllowed, allows, line)
    expect(!isAllowed, denies, line)
  }

  private func expect(_ holds: Bool, _ check: () throws -> Void, _ line: Int) {
    do {
      try check()
      #expect(holds, "line \(line): a check passed that does not hold")
    } catch {
      #expect(!holds && error is RulesTestFailure, "line \(line): \(error)")
    }
  }

  @Test(arguments: [true, false]) func `every check of Firestore looks`(isAllowed: Bool) throws {
    let rules = try RulesTester(
      firestore:
        "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read, write: if \(isAllowed); } }")
    let ada = RulesUser.user("ada")
    expect(
      isAllowed,
      allows: { try rules.allows(get: "a/b", as: ada) },
      denies: { try rules.denies(get: "a/b", as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(set: "a/b", to: [:], as: ada) },
      denies: { try rules.denies(set: "a/b", to: [:], as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(update: "a/b", with: [:], as: ada) },
      denies: { try rules.denies(update: "a/b", with: [:], as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(delete: "a/b", as: ada) },
      denies: { try rules.denies(delete: "a/b", as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(commit: [.delete("a/b")], as: ada) },
      denies: { try rules.denies(commit: [.delete("a/b")], as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(query: "a", as: ada) },
      denies: { try rules.denies(query: "a", as: ada) })
  }

  @Test(arguments: [true, false]) func `every check of Storage looks`(isAllowed: Bool) throws {
    var rules = try StorageRulesTester(
      "rules_version = '2'; service firebase.storage { match /{all=**} { allow read, write: if \(isAllowed); } }")
    rules.add(RulesStorageObject("a", bucket: "bucket", size: 1))
    let (tester, ada) = (rules, RulesUser.user("ada"))
    expect(
      isAllowed,
      allows: { try tester.allows(get: "a", as: ada) },
      denies: { try tester.denies(get: "a", as: ada) })
    expect(
      isAllowed,
      allows: { try tester.allows(list: "", as: ada) },
      denies: { try tester.denies(list: "", as: ada) })
    expect(
      isAllowed,
      allows: { try tester.allows(upload: "b", size: 1, as: ada) },
      denies: { try tester.denies(upload: "b", size: 1, as: ada) })
    expect(
      isAllowed,
      allows: { try tester.allows(update: "a", as: ada) { $0.metadata = [:] } },
      denies: { try tester.denies(update: "a", as: ada) { $0.metadata = [:] } })
    expect(
      isAllowed,
      allows: { try tester.allows(delete: "a", as: ada) },
      denies: { try tester.denies(delete: "a", as: ada) })
  }

  @Test(arguments: [true, false]) func `every check of the Realtime Database looks`(isAllowed: Bool) throws {
    let rules = try DatabaseRulesTester("{\"rules\": {\".read\": \(isAllowed), \".write\": \(isAllowed)}}")
    let ada = RulesUser.user("ada")
    expect(
      isAllowed,
      allows: { try rules.allows(read: "a", as: ada) },
      denies: { try rules.denies(read: "a", as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(set: "a", to: 1, as: ada) },
      denies: { try rules.denies(set: "a", to: 1, as: ada) })
    expect(
      isAllowed,
      allows: { try rules.allows(update: "a", with: ["b": 1], as: ada) },
      denies: { try rules.denies(update: "a", with: ["b": 1], as: ada) })
  }

  @Test func `an update of a document that does not exist is one, without the document`() throws {
    let rules = try RulesTester(
      firestore: """
        rules_version = '2';
        service cloud.firestore { match /databases/{d}/documents {
          match /a/{id} { allow update: if resource == null && request.resource.data.n == 1; }
          match /b/{id} { allow create; }
        } }
        """)
    try rules.allows(update: "a/b", with: ["n": 1], as: .nobody)
    try rules.denies(update: "a/b", with: ["n": 2], as: .nobody)
    try rules.denies(update: "b/b", with: ["n": 1], as: .nobody)
    try rules.allows(commit: [.set("b/b", [:]), .update("b/b", ["n": 1])], as: .nobody)
  }

  @Test func `a delete has no document after it, which is null`() throws {
    let rules = try RulesTester(
      firestore: """
        rules_version = '2';
        service cloud.firestore { match /databases/{d}/documents/a/{id} {
          allow write: if request.resource == null || request.resource.data.n == 1;
        } }
        """)
    try rules.allows(delete: "a/b", as: .nobody)
    try rules.allows(set: "a/b", to: ["n": 1], as: .nobody)
    try rules.denies(set: "a/b", to: ["n": 2], as: .nobody)
    try rules.allows(commit: [.set("a/b", ["n": 2]), .delete("a/b")], as: .nobody)
  }

  @Test func `a write looks up ten documents, two writes together more`() throws {
    let lookups = { (count: Int) in (0..<count).map { "!exists(/x/$(id)/y/n\($0))" }.joined(separator: " && ") }
    func tester(_ count: Int) throws -> RulesTester {
      try RulesTester(
        firestore: """
          rules_version = '2';
          service cloud.firestore { match /databases/{d}/documents/a/{id} { allow create: if \(lookups(count)); } }
          """)
    }
    let writes = ["b", "c"].map { RulesWrite.set("a/\($0)", [:]) }
    try tester(10).allows(commit: [writes[0]], as: .nobody)
    try tester(11).denies(commit: [writes[0]], as: .nobody)
    try tester(6).allows(commit: writes, as: .nobody)
    try tester(11).denies(commit: writes, as: .nobody)
  }

  @Test func `the time and the object of a tester are what their documentation says`() throws {
    let time = "request.time == timestamp.date(2026, 1, 1)"
    let firestore = "rules_version = '2'; service cloud.firestore { match /{all=**} { allow get: if \(time); } }"
    try RulesTester(firestore: firestore).allows(get: "a/b", as: .nobody)
    var rules = try StorageRulesTester(
      """
      rules_version = '2';
      service firebase.storage { match /{all=**} {
        allow get: if \(time) && resource.generation == 1 && resource.metageneration == 1 && resource.updated == request.time
          && resource.timeCreated == request.time && resource.contentType == 'application/octet-stream';
      } }
      """)
    rules.add(RulesStorageObject("a", bucket: "other", size: 1))
    try rules.allows(get: "a", as: .nobody)
    try DatabaseRulesTester("{\"rules\": {\".read\": \"now === 1767225600000\"}}").allows(read: "a", as: .nobody)
  }
}
