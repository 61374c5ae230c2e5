import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaRules
import VestaServiceInterop
import VestaTesting

@testable import VestaRulesGuards

@Suite struct DatabaseRulesGuardTests {
  @Test func `rules read what they look at, and no more`() async throws {
    struct Counting: DatabaseGuardState {
      let inner: DatabaseNodeState
      let read = Log<DatabasePath>()
      nonisolated(nonsending) func glance(at path: DatabasePath) async throws -> DatabaseGlance {
        read.add(path)
        return try await inner.glance(at: path)
      }
      nonisolated(nonsending) func childKeys(
        of path: DatabasePath, after key: DatabaseKey?, limit: Int
      ) async throws -> [DatabaseKey] { try await inner.childKeys(of: path, after: key, limit: limit) }
    }
    let guardian = DatabaseRulesGuard()
    let root = DatabaseNode(children: [
      ("rooms", DatabaseNode(children: [("r", DatabaseNode(children: [("owner", DatabaseNode(.string("ada")))]))])),
      ("members", DatabaseNode(children: [("ada", DatabaseNode(.bool(true)))])),
    ])
    let state = Counting(inner: DatabaseNodeState(root))
    let read = DatabaseGuardedRead("rooms/r", .all, at: 5)
    #expect(try await !guardian.mayRead(read, state: state, context: user("ada")), "nothing is allowed without rules")
    try await guardian.replace(
      with: """
        {"rules": {"rooms": {"$r": {
          ".read": "root.child('members').child(auth.uid).val() === true && query.limitToLast === null && now === 5",
          ".write": "data.child('owner').val() === auth.uid || (!data.exists() && newData.exists())",
          ".validate": "newData.hasChildren(['owner']) && root.child('members').hasChild(newData.child('owner').val())",
          "log": {"$n": {".validate": "newData.isNumber() && newData.parent().parent().child('owner').exists()"}}
        }}}}
        """)
    #expect(try await guardian.mayRead(read, state: state, context: user("ada")))
    #expect(state.read.entries == ["members/ada"])
    #expect(try await !guardian.mayRead(read, state: state, context: user("eve")))
    #expect(try await !guardian.mayRead(read, state: state, context: CallContext()))
    let window = DatabaseQuerySpec(index: .key, limit: .init(1, .last))
    #expect(
      try await !guardian.mayRead(DatabaseGuardedRead("rooms/r", window, at: 5), state: state, context: user("ada")))

    func mayWrite(_ values: [DatabasePathValue], _ uid: String) async throws -> Bool {
      try await guardian.mayWrite(
        DatabaseGuardedWrite(values, at: 5), before: state, after: DatabaseStateAfter(state, values), context: user(uid)
      )
    }
    let log = DatabaseNode(children: [("1", DatabaseNode(.int(1))), ("2", DatabaseNode(.double(2.5)))])
    #expect(try await mayWrite([DatabasePathValue("rooms/r/log", log)], "ada"))
    #expect(try await !mayWrite([DatabasePathValue("rooms/r/log", log)], "eve"))
    let wrong = log.setting(DatabaseKey("3"), to: DatabaseNode(.string("x")))
    #expect(try await !mayWrite([DatabasePathValue("rooms/r/log", wrong)], "ada"))
    #expect(
      try await !mayWrite([DatabasePathValue("rooms/r/owner", .empty), DatabasePathValue("rooms/r/log", log)], "ada"))
    #expect(try await mayWrite([DatabasePathValue("rooms/r", .empty)], "ada"))
    let new = DatabaseNode(children: [("owner", DatabaseNode(.string("ada")))])
    #expect(try await mayWrite([DatabasePathValue("rooms/s", new), DatabasePathValue("rooms/t", new)], "eve"))
    let unknown = DatabaseNode(children: [("owner", DatabaseNode(.string("bob")))])
    #expect(try await !mayWrite([DatabasePathValue("rooms/s", new), DatabasePathValue("rooms/t", unknown)], "eve"))
  }
}

@Suite struct DatabaseCallerTests {
  @Test(arguments: [
    (#"{"sign_in_provider":"password"}"#, "auth.provider === 'password'", true),
    (#"{"sign_in_provider":"google.com"}"#, "auth.provider === 'google.com'", true),
    (#"{"sign_in_provider":"custom"}"#, "auth.provider === 'password'", false),
    (#"{"sign_in_provider":"custom"}"#, "auth.token.firebase.sign_in_provider === auth.provider", true),
    ("{}", "auth.provider === null && auth.uid === 'ada'", true),
  ])
  func `rules of a database know the provider of a sign-in`(
    firebase: String, condition: String, isAllowed: Bool
  ) async throws {
    let guardian = DatabaseRulesGuard()
    try await guardian.replace(with: #"{"rules": {".read": "\#(condition)"}}"#)
    let claims = try JSONObject(json: Array(#"{"firebase":\#(firebase)}"#.utf8))
    let caller = CallContext(caller: .user(VerifiedUser(uid: "ada", claims: claims)))
    let read = DatabaseGuardedRead("a", .all, at: 5)
    #expect(
      try await guardian.mayRead(read, state: DatabaseNodeState(DatabaseNode(.int(1))), context: caller) == isAllowed)
  }
}

@Suite struct DatabaseQueryGuardTests {
  /// The variables of each kind of query.
  @Test func `rules see the bounds of a query, and two that are equal as one`() async throws {
    let guardian = DatabaseRulesGuard()
    let state = DatabaseNodeState(.empty)
    func mayRead(_ condition: String, _ spec: DatabaseQuerySpec) async throws -> Bool {
      try await guardian.replace(with: "{\"rules\": {\".read\": \"\(condition)\"}}")
      return try await guardian.mayRead(DatabaseGuardedRead("a", spec, at: 5), state: state, context: CallContext())
    }
    func bound(_ text: String, isInclusive: Bool = true) -> DatabaseQuerySpec.Bound {
      DatabaseQuerySpec.Bound(DatabaseNode(.string(text)), isInclusive: isInclusive)
    }
    let equal = DatabaseQuerySpec(index: .value, start: bound("x"), end: bound("x"))
    #expect(try await mayRead("query.equalTo === 'x' && query.startAt === null && query.endAt === null", equal))
    let between = DatabaseQuerySpec(index: .value, start: bound("x"), end: bound("y"))
    #expect(try await mayRead("query.equalTo === null && query.startAt === 'x' && query.endAt === 'y'", between))
    let limited = DatabaseQuerySpec(index: .key, limit: .init(3, .first))
    #expect(try await mayRead("query.limitToFirst === 3 && query.limitToLast === null && query.orderByKey", limited))
    let last = DatabaseQuerySpec(index: .priority, limit: .init(4, .last))
    #expect(try await mayRead("query.limitToLast === 4 && query.limitToFirst === null && query.orderByPriority", last))
  }
}

@Suite struct PriorityTests {
  @Test func `a priority is written by users that may write its node`() async throws {
    let guardian = DatabaseRulesGuard(
      try DatabaseRuleset(
        #"""
        {"rules": {"users": {"$u": {
          "$field": {".write": true, ".validate": "newData.isString()"},
          "own": {".write": "auth.uid === $u", ".validate": "newData.getPriority() === null || newData.getPriority() < 5"}
        }}}}
        """#))
    let state = DatabaseNodeState(
      DatabaseNode(children: [
        ("users", DatabaseNode(children: [("ada", DatabaseNode(children: [("own", DatabaseNode(.string("x")))]))]))
      ]))
    func may(_ path: DatabasePath, _ value: Int64, _ uid: String) async throws -> Bool {
      let values = [DatabasePathValue(path, DatabaseNode(.int(value)))]
      return try await guardian.mayWrite(
        DatabaseGuardedWrite(values, at: 0), before: state, after: DatabaseStateAfter(state, values), context: user(uid)
      )
    }
    #expect(try await !may("users/ada/.priority", 1, "ada"), "a rule for fields does not stand for the priority")
    #expect(try await may("users/ada/own/.priority", 1, "ada"))
    #expect(try await !may("users/ada/own/.priority", 7, "ada"))
    #expect(try await !may("users/ada/own/.priority", 1, "eve"))
  }
}
