import Testing
import VestaRules
import VestaRulesTesting

@Suite struct StorageRulesTesterTests {
  private let source = """
    rules_version = '2';
    service firebase.storage {
      match /b/{bucket}/o {
        match /users/{uid}/{file} {
          allow get: if request.auth.uid == uid;
          allow create: if request.auth.uid == uid && request.resource.size < 1024
            && request.resource.contentType.matches('image/.*') && resource == null;
          allow update: if request.auth.uid == uid && request.resource.metadata.album == 'a'
            && request.resource.metageneration == resource.metageneration + 1;
          allow delete: if request.auth.uid == resource.metadata.owner;
        }
        match /shared/{all=**} {
          allow list: if request.auth != null;
          allow get: if firestore.get(/databases/(default)/documents/members/$(request.auth.uid)).data.level > 1;
        }
      }
    }
    """

  private func tester() throws -> StorageRulesTester {
    var rules = try StorageRulesTester(source)
    var object = RulesStorageObject("users/ada/a.png", bucket: "other", size: 10, contentType: "image/png")
    object.metadata = ["owner": "ada"]
    rules.add(object)
    rules.add(RulesStorageObject("shared/x", bucket: "bucket", size: 1))
    rules.documents = ["members/ada": ["level": 2], "members/eve": ["level": 1]]
    return rules
  }

  @Test func `checks hold for every kind of request`() throws {
    let rules = try tester()
    try rules.allows(get: "users/ada/a.png", as: .user("ada"))
    try rules.denies(get: "users/ada/a.png", as: .user("eve"))
    try rules.allows(upload: "users/ada/b.png", size: 10, contentType: "image/png", as: .user("ada"))
    try rules.denies(upload: "users/ada/b.png", size: 2_048, contentType: "image/png", as: .user("ada"))
    try rules.denies(upload: "users/ada/b.txt", size: 10, as: .user("ada"))
    try rules.denies(upload: "users/ada/a.png", size: 10, contentType: "image/png", as: .user("ada"))
    try rules.allows(update: "users/ada/a.png", as: .user("ada")) { $0.metadata["album"] = "a" }
    try rules.denies(update: "users/ada/a.png", as: .user("ada")) { $0.contentType = "image/gif" }
    try rules.denies(update: "users/ada/none", as: .user("ada")) { $0.metadata["album"] = "a" }
    try rules.allows(delete: "users/ada/a.png", as: .user("ada"))
    try rules.denies(delete: "users/ada/a.png", as: .nobody)
    try rules.allows(list: "shared/", as: .user("eve"))
    try rules.denies(list: "users/ada", as: .user("ada"))
  }

  @Test func `rules of Storage look documents up`() throws {
    let rules = try tester()
    try rules.allows(get: "shared/x", as: .user("ada"))
    try rules.denies(get: "shared/x", as: .user("eve"))
    try rules.denies(get: "shared/x", as: .user("bob"))
    let failure = #expect(throws: RulesTestFailure.self) { try rules.allows(get: "shared/x", as: .user("eve")) }
    #expect(try #require(failure).description.contains("looked up: get(/databases/(default)/documents/members/eve)"))
    #expect(rules.coverage.lcov().contains("DA:14,"))
  }
}

@Suite struct DatabaseRulesTesterTests {
  private let source = """
    {"rules": {"rooms": {"$room": {
      ".read": "auth != null && (query.limitToFirst <= 10 || data.child('owner').val() === auth.uid)",
      ".write": "!data.exists() || data.child('owner').val() === auth.uid",
      ".validate": "newData.hasChildren(['owner'])",
      "owner": {".validate": "newData.isString()"},
      "seats": {".validate": "newData.isNumber() && newData.val() > 0"}
    }}}}
    """

  private func tester() throws -> DatabaseRulesTester {
    var rules = try DatabaseRulesTester(source)
    rules.data = ["rooms": ["hall": ["owner": "ada", "seats": 5]]]
    return rules
  }

  @Test func `checks hold for every kind of request`() throws {
    let rules = try tester()
    try rules.denies(read: "rooms/hall", as: .nobody)
    try rules.denies(read: "rooms/hall", as: .user("eve"))
    var query = DatabaseRulesQuery(.key)
    query.limitToFirst = 10
    try rules.allows(read: "rooms/hall", query: query, as: .user("eve"))
    try rules.denies(read: "rooms", query: query, as: .user("ada"))
    try rules.allows(set: "rooms/attic", to: ["owner": "eve", "seats": 1.5], as: .user("eve"))
    try rules.denies(set: "rooms/attic", to: ["seats": 1], as: .user("eve"))
    try rules.denies(set: "rooms/attic", to: ["owner": "eve", "seats": 0], as: .user("eve"))
    try rules.denies(set: "rooms/hall", to: ["owner": "eve"], as: .user("eve"))
    try rules.allows(set: "rooms/hall", to: nil, as: .user("ada"))
    try rules.allows(update: "rooms", with: ["hall/seats": 6, "attic": ["owner": "ada"]], as: .user("ada"))
    try rules.denies(update: "rooms", with: ["hall/seats": 6, "attic": ["owner": true]], as: .user("ada"))
  }

  @Test func `a check that does not hold names the rules that were asked`() throws {
    let rules = try tester()
    let failure = #expect(throws: RulesTestFailure.self) {
      try rules.allows(set: "rooms/attic", to: ["owner": "eve", "seats": "many"], as: .user("eve"))
    }
    let text = try #require(failure).description
    #expect(text.hasPrefix("expected allowed, but the write to /rooms/attic is denied\n"))
    #expect(text.contains("  .write of /rooms/attic  →  true\n    line 3, $room = 'attic'\n"))
    #expect(text.contains("newData.val() > 0  →  not evaluated"))
    #expect(text.contains("  .validate of /rooms/attic/seats  →  false"))
    let other = #expect(throws: RulesTestFailure.self) { try rules.denies(set: "rooms/x", to: nil, as: .nobody) }
    #expect(try #require(other).expectsAllowed == false)
    #expect(rules.coverage.lcov().contains("DA:3,2"))
    #expect(try #require(failure).databaseTrace?.rules.count == 4)
  }
}

@Suite struct CommitTests {
  private let source = """
    rules_version = '2';
    service cloud.firestore {
      match /databases/{database}/documents {
        function after(path) { return getAfter(/databases/$(database)/documents/$(path)).data; }
        match /teams/{team} {
          allow create: if existsAfter(/databases/$(database)/documents/teams/$(team)/members/$(request.auth.uid));
          allow update: if request.resource.data.count == resource.data.count + 1;
        }
        match /teams/{team}/members/{member} {
          allow create: if member == request.auth.uid && after('teams/' + team).count > 0
            && (!exists(/databases/$(database)/documents/teams/$(team)) || after('teams/' + team).open);
          allow delete: if !existsAfter(/databases/$(database)/documents/teams/$(team));
        }
      }
    }
    """

  @Test func `the writes of a commit see the state before and after all of them`() throws {
    var rules = try RulesTester(firestore: source)
    let team = RulesWrite.set("teams/red", ["count": 1, "open": false])
    let member = RulesWrite.set("teams/red/members/ada", [:])
    try rules.allows(commit: [team, member], as: .user("ada"))
    try rules.allows(commit: [member, team], as: .user("ada"))
    try rules.denies(commit: [team], as: .user("ada"))
    try rules.denies(commit: [member], as: .user("ada"))
    rules.documents = ["teams/red": ["count": 1, "open": true], "teams/red/members/bob": [:]]
    try rules.allows(commit: [.update("teams/red", ["count": 2]), member], as: .user("ada"))
    try rules.denies(commit: [.update("teams/red", ["count": 2, "open": false]), member], as: .user("ada"))
    try rules.allows(
      commit: [.update("teams/red", ["count": 3]), .update("teams/red", ["count": 2])], as: .user("ada"))
    try rules.denies(
      commit: [.update("teams/red", ["count": 2]), .update("teams/red", ["count": 3])], as: .user("ada"))
    try rules.denies(commit: [.delete("teams/red/members/bob")], as: .user("ada"))
    let failure = #expect(throws: RulesTestFailure.self) {
      try rules.denies(commit: [.update("teams/red", ["count": 2]), member], as: .user("ada"))
    }
    // It says how the last write was allowed.
    #expect(try #require(failure).trace?.decision.isAllowed == true)
    #expect(try #require(failure).description.contains("without writes") == false)
    try rules.allows(commit: [], as: .nobody)
    #expect(throws: RulesTestFailure.self) { try rules.denies(commit: [], as: .nobody) }
  }
}
