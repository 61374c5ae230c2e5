import Testing
import VestaBytes
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop
import VestaTesting

@testable import VestaRulesGuards

private let database = "projects/p/databases/(default)/documents"

/// Gets that are decided without waiting, and the values that rules read of documents and claims.
@Suite struct AtOnceTests {
  private struct Documents: FirestoreGuardState {
    let read = Log<String>()

    nonisolated(nonsending) func document(_ name: String) async throws -> Document? {
      read.add(name)
      return Document(name: name, fields: ["level": .integer(2)])
    }
  }

  private static let fields: MapValue = [
    "at": .timestamp(Timestamp(seconds: 5, nanos: 6)), "bytes": .bytes([1, 2]), "flag": .boolean(true),
    "float": .double(2.5), "int": .integer(7), "link": .reference("\(database)/users/ada"),
    "list": .array([.integer(1), .map(["x": .string("y")])]), "long": .array((0..<100).map { .integer($0) }),
    "map": .map(["inner": .map(["deep": .integer(1)]), "n": .integer(3)]), "nothing": .null,
    "owner": .string("ada"), "point": .geoPoint(GeoPoint(latitude: 1, longitude: 2)),
  ]

  private static var claims: JSONObject {
    var claims = JSONObject()
    claims["z"] = .integer(1)
    claims["admin"] = .bool(true)
    claims["tags"] = .array([.string("a")])
    return claims
  }

  private func answers(
    _ condition: String, _ document: Document?, signedIn: Bool = true
  ) async throws -> (atOnce: Bool?, waiting: Bool, read: Int) {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
        function user(id) { return /databases/$(database)/documents/users/$(id); }
        match /notes/{id} { allow get: if \(condition); }
      } }
      """
    let guardian = FirestoreRulesGuard(try Ruleset(source, for: .firestore))
    let context = signedIn ? CallContext(caller: .user(VerifiedUser(uid: "ada", claims: Self.claims))) : CallContext()
    let (state, name, time) = (Documents(), "\(database)/notes/n", Timestamp(seconds: 10))
    let atOnce = guardian.mayGetAtOnce(name, document, at: { time }, context: context)
    let waiting = try await guardian.mayGet(name, document, state: state, at: time, context: context)
    return (atOnce, waiting, state.read.entries.count)
  }

  @Test(arguments: [
    "resource.data.owner == request.auth.uid", "resource.data.at == timestamp.value(5000) + duration.time(0, 0, 0, 6)",
    "resource.data.bytes == b'\\x01\\x02'", "resource.data.flag", "resource.data.float == 2.5",
    "resource.data.int == 7 && resource.data.int is int", "resource.data.link == user('ada')",
    "resource.data.list[0] == 1 && resource.data.list[1].x == 'y'", "resource.data.list.size() == 2",
    "resource.data.long[99] == 99 && resource.data.long.size() == 100 && resource.data.long[0] == 0",
    "resource.data.map.inner.deep == 1", "resource.data.map == {'inner': {'deep': 1}, 'n': 3}",
    "resource.data.map.keys() == ['inner', 'n']", "resource.data.nothing == null",
    "resource.data.point == latlng.value(1, 2)", "resource.data.size() == 12", "'owner' in resource.data",
    "!('other' in resource.data)", "resource.data.keys()[0] == 'at' && resource.data.keys()[11] == 'point'",
    "resource.data.diff({}).addedKeys().size() == 12", "resource.data.get(['map', 'inner', 'deep'], 0) == 1",
    "resource.id == 'n' && resource.__name__ == request.path", "resource.keys() == ['__name__', 'data', 'id']",
    "resource.size() == 3", "request.auth.keys() == ['token', 'uid']", "request.auth.size() == 2",
    "request.auth.token.keys() == ['admin', 'tags', 'z']", "request.auth.token.size() == 3",
    "request.auth.token.tags == ['a']", "request.auth.token.admin", "request.time == timestamp.value(10000)",
    "request.path == /databases/(default)/documents/notes/n", "request.path[4] == id",
  ]) func `every value of a document and of claims is read`(_ condition: String) async throws {
    let document = Document(name: "\(database)/notes/n", fields: Self.fields)
    let answers = try await answers(condition, document)
    #expect(answers.atOnce == true && answers.waiting, "\(condition)")
    let negated = try await self.answers("!(\(condition))", document)
    #expect(negated.atOnce == false && !negated.waiting, "\(condition)")
  }

  @Test(arguments: [
    "resource.data.other == 1", "resource.data.map.other == 1", "resource.other == 1", "request.auth.other == 1",
    "request.auth.token.other == 1", "resource.data.owner",
  ]) func `a member that is missing is an error`(_ condition: String) async throws {
    let document = Document(name: "\(database)/notes/n", fields: Self.fields)
    for text in [condition, "!(\(condition))"] {
      let answers = try await answers(text, document)
      #expect(answers.atOnce == false && !answers.waiting, "\(text)")
    }
  }

  @Test func `without a document and without a user rules see null`() async throws {
    let absent = try await answers("resource == null && request.auth == null", nil, signedIn: false)
    #expect(absent.atOnce == true && absent.waiting)
    let owned = try await answers("resource.data.owner == request.auth.uid", nil, signedIn: false)
    #expect(owned.atOnce == false && !owned.waiting)
    let signedIn = try await answers("request.auth != null", nil, signedIn: false)
    #expect(signedIn.atOnce == false && !signedIn.waiting)
  }

  @Test func `rules that look at another document are asked with the state`() async throws {
    let document = Document(name: "\(database)/notes/n", fields: Self.fields)
    let lookedUp = try await answers("get(user('ada')).data.level == 2", document)
    #expect(lookedUp.atOnce == nil && lookedUp.waiting && lookedUp.read == 1)
    // One that the verdict does not need is not read.
    let unneeded = try await answers("resource.data.flag || get(user('ada')).data.level == 2", document)
    #expect(unneeded.atOnce == true && unneeded.waiting && unneeded.read == 0)
  }

  @Test func `a guard without rules denies at once`() {
    let guardian = FirestoreRulesGuard()
    #expect(guardian.mayGetAtOnce("x", nil, at: { Timestamp(seconds: 0) }, context: CallContext()) == false)
  }

  @Test func `which gets rules allow for every document is known as soon as there are rules`() throws {
    for (condition, summary) in [("true", 3), ("request.auth != null", 2), ("request.auth == null", 1), ("false", 0)] {
      let source = "service cloud.firestore { match /{all=**} { allow get: if \(condition); } }"
      #expect(RulesInForce(firestore: try Ruleset(source, for: .firestore)).summary == UInt8(summary))
    }
    #expect(RulesInForce(firestore: nil).summary == 0)
  }

  @Test func `a name that has no database is decided by the rules of all others`() throws {
    func guardian(_ condition: String) throws -> FirestoreRulesGuard {
      FirestoreRulesGuard(
        try Ruleset("service cloud.firestore { match /{all=**} { allow get: if \(condition); } }", for: .firestore))
    }
    let scoped = ScopedFirestoreGuard(others: try guardian("true"), named: ["d": try guardian("false")])
    func may(_ name: String) -> Bool? {
      scoped.mayGetAtOnce(name, nil, at: { Timestamp(seconds: 0) }, context: CallContext())
    }
    for name in ["", "projects", "projects/p/databases", "projects/p/databases/e/documents/c/x"] {
      #expect(may(name) == true, "\(name)")
    }
    #expect(may("projects/p/databases/d/documents/c/x") == false)
  }

  @Test func `what every get is allowed by follows each replacement of the rules`() async throws {
    let guardian = FirestoreRulesGuard()
    let ada = CallContext(caller: .user(VerifiedUser(uid: "ada", claims: Self.claims)))
    func answers() -> [Bool?] {
      [CallContext(), ada].map { context in
        guardian.mayGetAtOnce("\(database)/notes/n", nil, at: { Timestamp(seconds: 0) }, context: context)
      }
    }
    for (condition, expected) in [
      ("true", [true, true]), ("request.auth != null", [false, true]), ("request.auth == null", [true, false]),
      ("false", [false, false]), ("true", [true, true]), ("resource != null", [false, false]),
    ] {
      try await guardian.replace(
        with: "service cloud.firestore { match /{all=**} { allow get: if \(condition); } }")
      #expect(answers() == expected, "\(condition)")
    }
  }
}
