import Testing
import VestaRules
import VestaRulesTesting

@Suite struct RulesTesterTests {
  private let source = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        function isOwner() { return request.auth.uid == resource.data.owner; }
        match /notes/{note} {
          allow read, update, delete: if isOwner();
          allow create: if request.resource.data.owner == request.auth.uid
            && exists(/databases/$(database)/documents/users/$(request.auth.uid));
        }
      }
    }
    """

  private func tester() throws -> RulesTester {
    var rules = try RulesTester(firestore: source)
    rules.documents = ["notes/n1": ["owner": "ada", "text": "hi"], "users/ada": ["name": "Ada"]]
    return rules
  }

  @Test func `checks hold for every kind of request`() throws {
    let rules = try tester()
    try rules.allows(get: "notes/n1", as: .user("ada"))
    try rules.denies(get: "notes/n1", as: .nobody)
    try rules.allows(set: "notes/n2", to: ["owner": "ada"], as: .user("ada"))
    try rules.denies(set: "notes/n2", to: ["owner": "eve"], as: .user("eve"))
    try rules.allows(update: "notes/n1", with: ["text": "new"], as: .user("ada"))
    try rules.denies(update: "notes/n1", with: ["text": "new"], as: .user("eve"))
    try rules.allows(delete: "notes/n1", as: .user("ada"))
    try rules.denies(delete: "notes/n9", as: .user("ada"))
    try rules.allows(query: "notes", where: .field(["owner"], .equal, "ada"), as: .user("ada"))
    try rules.denies(query: "notes", as: .user("ada"))
  }

  @Test func `a check that does not hold shows every expression`() throws {
    let rules = try tester()
    let failure = #expect(throws: RulesTestFailure.self) { try rules.allows(get: "notes/n1", as: .user("eve")) }
    let text = try #require(failure).description
    #expect(text.hasPrefix("expected allowed, but get is denied\n"))
    #expect(text.contains("allow at line 6, database = '(default)', note = 'n1'"))
    #expect(text.contains("request.auth.uid == resource.data.owner  →  false"))
    #expect(text.contains("resource.data.owner  →  'ada'"))
  }

  @Test func `a refused query says what it does not fix, and a trace what was not needed`() throws {
    let rules = try tester()
    let query = RulesQuery("notes", below: RulesPath("/databases/(default)/documents"))
    let trace = rules.ruleset.trace(query, auth: RulesUser.user("ada").value)
    #expect(trace.description.contains("resource.data.owner  →  error: The query does not fix the value."))
    let created = RulesRequest(
      .create, RulesPath("/databases/(default)/documents/notes/n2"), auth: RulesUser.user("ada").value,
      resource: ["data": ["owner": "eve"]])
    #expect(rules.ruleset.trace(created).description.contains("→  not evaluated"))
    #expect(rules.ruleset.trace(created).json.hasPrefix("{\"method\":\"create\",\"allowed\":false"))
  }

  @Test func `coverage counts the outcomes of all checks`() throws {
    let rules = try tester()
    try rules.allows(get: "notes/n1", as: .user("ada"))
    try rules.denies(get: "notes/n1", as: .user("eve"))
    try rules.denies(get: "notes/n1", as: .nobody)
    let json = rules.coverage.json()
    #expect(json.contains("\"causeMessage\":\"Null value error.\""))
    #expect(json.contains("{\"value\":{\"boolValue\":true},\"count\":1}"))
    let lcov = rules.coverage.lcov()
    #expect(lcov.contains("DA:4,3") && lcov.contains("DA:6,3") && lcov.contains("DA:7,0"))
    #expect(rules.coverage.html().contains("<tr class=\"no\"><td>7</td>"))
  }
}
