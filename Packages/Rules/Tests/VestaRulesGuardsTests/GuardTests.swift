import Testing
import VestaBytes
import VestaConcurrency
import VestaDatabaseBackend
import VestaFirestoreBackend
import VestaRules
import VestaServiceInterop
import VestaStorageBackend
import VestaTesting

@testable import VestaRulesGuards

private let database = "projects/p/databases/(default)/documents"
private let now = Timestamp(seconds: 1_767_225_600)

/// A signed-in caller.
func user(_ uid: String, _ claims: JSONObject = JSONObject()) -> CallContext {
  CallContext(caller: .user(VerifiedUser(uid: uid, claims: claims)))
}

private func document(_ path: String, _ fields: MapValue) -> Document {
  Document(name: "\(database)/\(path)", fields: fields)
}

/// Documents by name, which counts what is read.
private struct Documents: FirestoreGuardState {
  let documents: [Document]
  let read = Log<String>()

  nonisolated(nonsending) func document(_ name: String) async throws -> Document? {
    read.add(name)
    return documents.first { $0.name.utf8.elementsEqual(name.utf8) }
  }
}

@Suite struct FirestoreRulesGuardTests {
  private func guardian(_ rules: String) throws -> FirestoreRulesGuard {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
        function document(path) { return /databases/$(database)/documents/$(path); }
        \(rules)
      } }
      """
    return FirestoreRulesGuard(try Ruleset(source, for: .firestore))
  }

  @Test func `a get sees the document, the claims and the documents that are looked up`() async throws {
    let guardian = try guardian(
      """
      match /notes/{id} {
        allow get: if resource == null || resource.data.owner == request.auth.uid
          || request.auth.token.admin == true && get(document('users/' + request.auth.uid)).data.level == 2
          || resource.data.link == document('users/ada') && resource.id == id && request.time == timestamp.value(1767225600000);
      }
      """)
    let state = Documents(documents: [document("users/eve", ["level": .integer(2)])])
    let note = document("notes/n", ["owner": .string("ada")])
    func mayGet(_ document: Document?, _ context: CallContext) async throws -> Bool {
      try await guardian.mayGet("\(database)/notes/n", document, state: state, at: now, context: context)
    }
    #expect(try await mayGet(note, user("ada")))
    #expect(state.read.entries.isEmpty)
    #expect(try await !mayGet(note, user("eve")))
    var claims = JSONObject()
    claims["admin"] = .bool(true)
    #expect(try await mayGet(note, user("eve", claims)))
    // Once for each decision: a document is asked for although the operand before it is an error.
    #expect(state.read.entries == ["\(database)/users/eve", "\(database)/users/eve"])
    #expect(try await mayGet(nil, CallContext()))
    #expect(try await mayGet(document("notes/n", ["link": .reference("\(database)/users/ada")]), CallContext()))
  }

  @Test func `a lookup of a path that no document has is an error, and reads nothing`() async throws {
    let guardian = try guardian(
      """
      match /a/{id} { allow get: if exists(/databases/$(database)/documents) || id == 'x'; }
      match /b/{id} { allow get: if exists(/databases) || exists(/databases/d/documents/c) || exists(/a/b/c/d/e) || id == 'x'; }
      match /c/{id} { allow get: if !exists(/databases/$(database)/documents); }
      """)
    let state = Documents(documents: [])
    for (name, isAllowed) in [("a/x", true), ("b/x", true), ("b/y", false), ("c/x", false)] {
      let may = try await guardian.mayGet(
        "\(database)/\(name)", nil, state: state, at: now, context: CallContext())
      #expect(may == isAllowed, "\(name)")
    }
    #expect(state.read.entries.isEmpty)
  }

  @Test func `rules that explain themselves allow what others allow`() async throws {
    let source = "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read, write: if true; } }"
    let rules = try ProjectRules(RulesSources(firestore: .text(source)), reporting: RulesReporting(isOn: true))
    let guardian = FirestoreRulesGuard(rules.firestore, rules.firestoreReports)
    let (state, name) = (Documents(documents: []), "\(database)/a/b")
    #expect(try await guardian.mayGet(name, nil, state: state, at: now, context: CallContext()))
    let write = FirestoreGuardedWrite(.change, name, before: nil, after: document("a/b", [:]))
    #expect(try await guardian.mayCommit([write], state: state, at: now, context: CallContext()))
    let query = FirestoreGuardedQuery(parent: database, query: StructuredQuery(from: [.init(collectionID: "a")]))
    #expect(try await guardian.mayList(query, state: state, at: now, context: CallContext()))
    #expect(rules.coverage(of: .firestore, as: .json) != nil)
  }

  @Test func `debug returns its argument where rules explain themselves`() async throws {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{d}/documents/a/{id} {
        allow get: if debug(debug(resource.data).n == 1); allow list: if debug(resource.data.n) == 1;
      } }
      """
    let query = FirestoreGuardedQuery(
      parent: database,
      query: StructuredQuery(from: [.init(collectionID: "a")], filter: .field(path: "n", .equal, .integer(1))))
    for isOn in [true, false] {
      let rules = try ProjectRules(RulesSources(firestore: .text(source)), reporting: RulesReporting(isOn: isOn))
      let guardian = FirestoreRulesGuard(rules.firestore, rules.firestoreReports)
      let state = Documents(documents: [])
      func may(_ number: Int64) async -> Bool {
        let note = document("a/b", ["n": .integer(number)])
        let may = try? await guardian.mayGet(note.name, note, state: state, at: now, context: CallContext())
        return may == true
      }
      #expect(await may(1) == isOn)
      #expect(await !may(2))
      let list = try? await guardian.mayList(query, state: state, at: now, context: CallContext())
      #expect((list == true) == isOn)
    }
  }

  @Test func `the values of debug are handed out with their places`() throws {
    let seen = Log<String>()
    let ruleset = try Ruleset(
      "rules_version = '2';\nservice cloud.firestore { match /{all=**} {\n  allow get: if debug(1 + 1) == 2;\n} }",
      for: .firestore
    ) { value, place in seen.add("\(value) at \(place.line)") }
    #expect(ruleset.decide(RulesRequest(.get, RulesPath("/a/b"))).isAllowed)
    #expect(seen.entries == ["2 at 3"])
  }

  @Test func `the writes of a commit are decided together`() async throws {
    let guardian = try guardian(
      """
      match /a/{id} { allow create: if existsAfter(document('b/' + id)); allow update: if resource.data.n < request.resource.data.n;
        allow delete: if !existsAfter(document('b/' + id)); }
      match /b/{id} { allow create: if getAfter(document('a/' + id)).data.n == 1 && !exists(document('a/' + id)); allow delete; }
      match /c/{id} { allow get: if resource.data.open; }
      """)
    let (a, b) = (document("a/x", ["n": .integer(1)]), document("b/x", [:]))
    let state = Documents(documents: [])
    func may(_ writes: FirestoreGuardedWrite...) async throws -> Bool {
      try await guardian.mayCommit(writes, state: state, at: now, context: CallContext())
    }
    let (newA, newB) = (
      FirestoreGuardedWrite(.change, a.name, before: nil, after: a),
      FirestoreGuardedWrite(.change, b.name, before: nil, after: b)
    )
    #expect(try await may(newA, newB))
    #expect(try await may(newB, newA))
    #expect(try await !may(newA))
    #expect(try await !may(newB))
    let more = document("a/x", ["n": .integer(2)])
    #expect(try await may(FirestoreGuardedWrite(.change, a.name, before: a, after: more)))
    #expect(try await !may(FirestoreGuardedWrite(.change, a.name, before: more, after: a)))
    let gone = FirestoreGuardedWrite(.deletion, b.name, before: b, after: nil)
    #expect(try await may(gone, FirestoreGuardedWrite(.deletion, a.name, before: a, after: nil)))
    let open = document("c/x", ["open": .boolean(true)])
    #expect(try await may(FirestoreGuardedWrite(.verification, open.name, before: open, after: open)))
    let shut = document("c/x", ["open": .boolean(false)])
    #expect(try await !may(FirestoreGuardedWrite(.verification, shut.name, before: shut, after: shut)))
    #expect(try await may())
  }

  @Test func `what a write demands tells a creation from an update`() async throws {
    let guardian = try guardian(
      "match /c/{id} { allow create; } match /u/{id} { allow update: if resource == null || resource.data.n == 1; }")
    let state = Documents(documents: [])
    for (path, exists, precondition, isAllowed) in [
      ("c/x", false, nil, true), ("c/x", true, nil, false), ("u/x", false, nil, false), ("u/x", true, nil, true),
      ("c/x", false, .exists(true), false), ("u/x", false, .exists(true), true), ("c/x", true, .exists(false), true),
      ("u/x", true, .exists(false), false), ("u/x", false, .updateTime(now), true),
      ("c/x", false, .updateTime(now), false),
    ] as [(String, Bool, Precondition?, Bool)] {
      let document = document(path, ["n": .integer(1)])
      let write = FirestoreGuardedWrite(
        .change, document.name, before: exists ? document : nil, after: document, precondition: precondition)
      let may = try await guardian.mayCommit([write], state: state, at: now, context: CallContext())
      #expect(may == isAllowed, "\(path) \(exists) \(String(describing: precondition))")
    }
  }

  @Test func `several writes of a document are one, from before the commit to after it`() async throws {
    let guardian = try guardian(
      """
      match /c/{id} { allow create: if request.resource.data.n == 2; }
      match /u/{id} { allow update: if resource.data.n == 1 && request.resource.data.n == 2; }
      match /d/{id} { allow delete; }
      match /w/{id} { allow write: if request.resource == null || request.resource.data.n == 2; }
      """)
    let state = Documents(documents: [])
    func may(_ path: String, _ states: [Int64?]) async throws -> Bool {
      let documents = states.map { number in number.map { document(path, ["n": .integer($0)]) } }
      let writes = zip(documents, documents.dropFirst()).map { before, after in
        FirestoreGuardedWrite(after == nil ? .deletion : .change, "\(database)/\(path)", before: before, after: after)
      }
      // Another document's write stands between them.
      let other = FirestoreGuardedWrite(.deletion, "\(database)/d/other", before: nil, after: nil)
      return try await guardian.mayCommit(
        [writes[0], other] + writes.dropFirst(), state: state, at: now, context: CallContext())
    }
    #expect(try await may("c/x", [nil, 1, 2]))
    #expect(try await !may("c/x", [nil, 2, 1]))
    #expect(try await may("u/x", [1, 5, 2]))
    #expect(try await may("u/x", [1, nil, 2]))
    #expect(try await !may("u/x", [5, 1, 2]))
    #expect(try await may("d/x", [nil, 1, nil]))
    #expect(try await !may("d/x", [nil, nil, 1]))
    #expect(try await may("w/x", [1, nil]))
    #expect(try await may("w/x", [1, 2]))
    #expect(try await !may("w/x", [1, nil, 3]))
  }

  @Test func `a query is allowed where its filter proves the rules`() async throws {
    let guardian = try guardian(
      """
      match /notes/{id} { allow list: if resource.data.owner == request.auth.uid && request.query.limit <= 10
        && exists(document('users/' + request.auth.uid)); }
      match /{path=**}/tags/{id} { allow list: if resource.data.a['b.c'] != null; }
      """)
    let state = Documents(documents: [document("users/ada", [:])])
    func mayList(_ query: StructuredQuery, _ uid: String = "ada") async throws -> Bool {
      try await guardian.mayList(
        FirestoreGuardedQuery(parent: database, query: query), state: state, at: now, context: user(uid))
    }
    var query = StructuredQuery(from: [.init(collectionID: "notes")])
    query.limit = 10
    #expect(try await !mayList(query))
    query.filter = .field(path: "owner", .equal, .string("ada"))
    #expect(try await mayList(query))
    #expect(try await !mayList(query, "eve"))
    query.limit = 11
    #expect(try await !mayList(query))
    var tags = StructuredQuery(from: [.init(collectionID: "tags", allDescendants: true)])
    tags.filter = .composite(.and, [.unary(path: "a.`b.c`", .isNotNull), .field(path: "__name__", .equal, .null)])
    #expect(try await mayList(tags))
    tags.filter = .composite(.or, [.unary(path: "a.`b.c`", .isNotNull), .field(path: "__name__", .equal, .null)])
    #expect(try await !mayList(tags))
    tags.from.append(.init(collectionID: "other"))
    #expect(try await !mayList(tags))
    #expect(try await !mayList(StructuredQuery(from: [.init(collectionID: "", allDescendants: true)])))
  }

  @Test func `a query by names is allowed where each named document is`() async throws {
    let guardian = try guardian(
      """
      match /notes/{id} { allow list: if id == 'open' || resource.data.owner == request.auth.uid; }
      match /gone/{id} { allow list: if resource == null; }
      """)
    // The same text in two normal forms: two documents.
    let (composed, apart) = ("notes/\u{e9}", "notes/e\u{301}")
    let state = Documents(documents: [
      document("notes/a", ["owner": .string("ada")]), document("notes/b", ["owner": .string("eve")]),
      document("notes/open", [:]), document(composed, ["owner": .string("ada")]),
      document(apart, ["owner": .string("eve")]),
    ])
    func mayList(_ filter: Filter, _ collection: String = "notes", group: Bool = false) async throws -> Bool {
      var query = StructuredQuery(from: [.init(collectionID: collection, allDescendants: group)])
      query.filter = filter
      return try await guardian.mayList(
        FirestoreGuardedQuery(parent: database, query: query), state: state, at: now, context: user("ada"))
    }
    func named(_ path: String) -> Filter { .field(path: "__name__", .equal, .reference("\(database)/\(path)")) }
    func among(_ paths: String...) -> Filter {
      .field(path: "__name__", .in, .array(paths.map { .reference("\(database)/\($0)") }))
    }
    #expect(try await mayList(named("notes/a")))
    #expect(try await !mayList(named("notes/b")))
    #expect(try await mayList(named("notes/open")))
    #expect(state.read.entries.last == "\(database)/notes/open", "listeners are asked again when it changes")
    #expect(try await !mayList(named("notes/missing")))
    #expect(try await mayList(named("gone/x"), "gone"))
    #expect(try await mayList(among("notes/a", "notes/open", "notes/a")))
    #expect(try await !mayList(among("notes/a", "notes/b")))
    #expect(try await !mayList(among(composed, apart)))
    #expect(try await mayList(among(composed, "notes/a")))
    #expect(try await mayList(named("notes/a"), group: true))
    #expect(try await !mayList(named("notes/a"), "gone"))
    #expect(try await !mayList(.field(path: "__name__", .in, .array([]))))
    #expect(try await !mayList(.field(path: "__name__", .greaterThanOrEqual, .reference("\(database)/notes/a"))))
    #expect(try await mayList(.composite(.and, [among("notes/a", "notes/b"), named("notes/a")])))
    #expect(try await mayList(.composite(.or, [named("notes/a"), named("notes/open")])))
    let any = Filter.field(path: "n", .equal, .integer(1))
    #expect(try await mayList(.composite(.and, [any, named("notes/a")])))
    #expect(try await !mayList(.composite(.or, [any, named("notes/a")])))
    // A filter that proves the rules needs no document.
    let read = state.read.entries.count
    #expect(try await mayList(.composite(.and, [named("notes/b"), .field(path: "owner", .equal, .string("ada"))])))
    #expect(state.read.entries.count == read)
  }

  @Test func `writes of two documents whose names only look alike are decided each`() async throws {
    let guardian = try guardian(
      "match /a/{id} { allow update: if resource.data.owner == request.auth.uid; allow delete: if id == 'x'; }")
    let (mine, other) = ("a/\u{e9}", "a/e\u{301}")
    func may(_ writes: FirestoreGuardedWrite...) async throws -> Bool {
      try await guardian.mayCommit(writes, state: Documents(documents: []), at: now, context: user("ada"))
    }
    func change(_ path: String, of owner: String) -> FirestoreGuardedWrite {
      let before = document(path, ["owner": .string(owner)])
      return FirestoreGuardedWrite(.change, before.name, before: before, after: document(path, [:]))
    }
    #expect(try await may(change(mine, of: "ada"), change(other, of: "ada")))
    #expect(try await !may(change(mine, of: "ada"), change(other, of: "eve")))
    #expect(try await !may(change(other, of: "eve"), change(mine, of: "ada")))
  }

  @Test func `after a commit a document is found by the bytes of its name`() async throws {
    let guardian = try guardian(
      "match /a/{id} { allow create: if getAfter(document('a/' + request.resource.data.other)).data.n == 1; }")
    let one = document("a/\u{e9}", ["other": .string("e\u{301}"), "n": .integer(1)])
    let other = document("a/e\u{301}", [:])
    let write = FirestoreGuardedWrite(.change, one.name, before: nil, after: one)
    func may(_ documents: [Document]) async throws -> Bool {
      try await guardian.mayCommit([write], state: Documents(documents: documents), at: now, context: user("ada"))
    }
    #expect(try await !may([other]))
  }

  @Test(arguments: [
    ("a", ["a"]), ("a.b", ["a", "b"]), ("`a.b`.c", ["a.b", "c"]), ("`a\\`b`", ["a`b"]), ("`a\\\\`", ["a\\"]),
  ]) func `a field path is taken apart`(path: String, names: [String]) {
    #expect(RulesQuery.Filter.names(path) == names)
  }

  @Test(arguments: ["__name__", "", "a..b", "`a", "a.", "`a\\"])
  func `a field path that cannot be read says nothing`(path: String) {
    #expect(RulesQuery.Filter.names(path) == nil)
  }
}

@Suite struct StorageRulesGuardTests {
  private let source = """
    rules_version = '2';
    service firebase.storage { match /b/{bucket}/o {
      match /u/{uid}/{name} {
        allow get: if request.auth.uid == uid && resource.size == 3 && resource.generation == 7
          && resource.timeCreated == timestamp.value(5000) && resource.metadata.k == 'v';
        allow create: if request.resource.size < 5 && !('generation' in request.resource) && request.resource.crc32c == 'AAAABQ==';
        allow update: if request.resource.metageneration == resource.metageneration + 1;
        allow delete: if request.auth == null;
      }
      match /l/{all=**} { allow list; }
      match /w/{name} { allow read, write: if request.resource == null || request.resource.size < 5; }
      match /f/{x}/{y} { allow get: if firestore.get(/databases/(default)/documents/d/$(x)).data.n
        == firestore.get(/databases/(default)/documents/d/$(y)).data.n; }
    } }
    """

  private func object(_ name: String, generation: Int64 = 7, size: Int64 = 3) -> StorageObject {
    StorageObject(
      name: ObjectName(bucket: "b", name: name), generation: generation, metageneration: 1, size: size, crc32c: 5,
      md5: nil, timeCreated: 5_000_000, updated: 5_000_000,
      metadata: ObjectMetadata(contentType: "image/png", custom: ["k": "v"]))
  }

  @Test func `operations are asked about as production asks`() async throws {
    let guardian = StorageRulesGuard()
    let stored = object("u/ada/x")
    func allows(_ operation: StorageGuardedOperation, _ context: CallContext = user("ada")) async throws -> Bool {
      try await guardian.allows(operation, at: 1_000_000, context: context)
    }
    #expect(try await !allows(.list(bucket: "b", prefix: "l")), "nothing is allowed without rules")
    #expect(try await guardian.replace(with: source).isEmpty)
    #expect(try await allows(.get(stored.name, existing: stored)))
    #expect(try await !allows(.get(stored.name, existing: stored), user("eve")))
    #expect(try await !allows(.get(stored.name, existing: nil)))
    #expect(try await allows(.upload(object("u/ada/x", generation: 0), existing: stored)))
    #expect(try await !allows(.upload(object("u/ada/x", generation: 0, size: 9), existing: nil)))
    var changed = stored
    changed.metageneration = 2
    #expect(try await allows(.update(stored.name, existing: stored, new: changed)))
    #expect(try await !allows(.update(stored.name, existing: nil, new: nil)))
    #expect(try await allows(.delete(stored.name, existing: nil), CallContext()))
    #expect(try await !allows(.delete(stored.name, existing: stored)))
    // One condition serves deletes and reads too.
    let other = object("w/x", size: 9)
    #expect(try await allows(.delete(other.name, existing: other)))
    #expect(try await allows(.get(other.name, existing: other)))
    #expect(try await allows(.list(bucket: "b", prefix: "w/x")))
    #expect(try await !allows(.upload(other, existing: nil)))
    #expect(try await allows(.list(bucket: "b", prefix: "l/a/")))
    #expect(try await !allows(.list(bucket: "b", prefix: "u/ada/")))
  }

  /// A store in which every read changes what the next one finds.
  private final class Moving: FirestoreReading {
    let versions = Log<Timestamp?>()

    nonisolated(nonsending) func document(
      _ name: String, in database: String, at version: Timestamp?, until deadline: Int64?
    ) async throws -> (document: Document?, version: Timestamp?) {
      versions.add(version)
      let read = version ?? Timestamp(seconds: Int64(versions.entries.count))
      return (Document(name: name, fields: ["n": .integer(read.seconds)]), read)
    }
  }

  @Test func `a lookup of a path outside of the default database is an error`() async throws {
    let moving = Moving()
    let guardian = StorageRulesGuard(RulesInForce(), reading: moving, project: "p")
    let lookups = ["/databases", "/a", "/databases/(default)", "/databases/other/documents/a/b"]
    for path in lookups {
      try await guardian.replace(
        with: """
          rules_version = '2';
          service firebase.storage { match /b/{b}/o/{name} {
            allow get: if firestore.exists(\(path)) || name == 'x';
            allow delete: if !firestore.exists(\(path));
          } }
          """)
      let name = ObjectName(bucket: "b", name: "x")
      #expect(try await guardian.allows(.get(name, existing: nil), at: 0, context: CallContext()), "\(path)")
      #expect(try await !guardian.allows(.delete(name, existing: nil), at: 0, context: CallContext()), "\(path)")
    }
    #expect(moving.versions.entries.isEmpty)
  }

  @Test func `the documents of one decision are read at one version`() async throws {
    let moving = Moving()
    let guardian = StorageRulesGuard(RulesInForce(), reading: moving, project: "p")
    try await guardian.replace(with: source)
    let name = ObjectName(bucket: "b", name: "f/x/y")
    #expect(try await guardian.allows(.get(name, existing: nil), at: 0, context: CallContext()))
    #expect(try await guardian.allows(.get(name, existing: nil), at: 0, context: CallContext()))
    #expect(moving.versions.entries == [nil, Timestamp(seconds: 1), nil, Timestamp(seconds: 3)])
  }
}

@Suite struct ReplacementTests {
  private let open = "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read; } }"
  private let shut = "rules_version = '2'; service cloud.firestore { match /{all=**} { allow read: if false; } }"

  private func mayGet(_ guardian: FirestoreRulesGuard) async throws -> Bool {
    try await guardian.mayGet(
      "\(database)/a/b", nil, state: Documents(documents: []), at: now, context: CallContext())
  }

  @Test func `rules that do not compile leave the old ones in force, and say why`() async throws {
    let guardian = FirestoreRulesGuard()
    let changes = Log<Int>()
    let registration = guardian.observe { changes.add(1) }
    #expect(try await !mayGet(guardian))
    try await guardian.replace(with: open)
    #expect(try await mayGet(guardian))
    let error = await #expect(throws: RulesetError.self) { try await guardian.replace(with: "service {") }
    #expect(error?.issues.isEmpty == false)
    #expect(try await mayGet(guardian))
    try await guardian.replace(with: shut)
    #expect(try await !mayGet(guardian))
    #expect(changes.entries.count == 2)
    registration.cancel()
    try await guardian.replace(with: open)
    #expect(changes.entries.count == 2)
  }

  @Test func `of two replacements at once the later one counts, however long the earlier one compiles`() async throws {
    let rules = RulesInForce<Int>()
    let started = Gate()
    let release = Gate()
    let slow = Task {
      _ = try await rules.replace { () throws(RulesetError) in
        started.open()
        _ = release.passes()
        return 1
      }
    }
    await started.wait()
    #expect(rules.current == nil, "what is being compiled is not in force")
    _ = try await rules.replace { () throws(RulesetError) in 2 }
    release.open()
    try await slow.value
    #expect(rules.current == 2)
  }

  @Test func `decisions continue while rules are replaced, each by one of them`() async throws {
    let guardian = FirestoreRulesGuard(try Ruleset(open, for: .firestore))
    try await withThrowingTaskGroup { group in
      group.addTask { [open, shut] in
        for number in 0..<50 { try await guardian.replace(with: number % 2 == 0 ? shut : open) }
      }
      for _ in 0..<2 {
        group.addTask { for _ in 0..<500 { _ = try await mayGet(guardian) } }
      }
      try await group.waitForAll()
    }
    #expect(try await mayGet(guardian))
  }

  @Test
  func `a large ruleset is replaced during the traffic: the old one decides until all of the new one is in force`()
    async throws
  {
    // The first and the last statement say the same, so that half of a ruleset would be seen.
    @Sendable func large(_ answer: String) -> String {
      let middle = (0..<400).map { "match /c\($0)/{id} { allow get: if request.auth.uid == id; }" }.joined()
      let first = "match /first/{id} { allow get: if \(answer); }"
      let last = "match /last/{id} { allow get: if \(answer); }"
      return
        "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents { \(first)\(middle)\(last) } }"
    }
    let guardian = FirestoreRulesGuard(try Ruleset(large("false"), for: .firestore))
    @Sendable func answers() -> (first: Bool?, last: Bool?) {
      // One look at the rules in force, as a decision takes it.
      guard let ruleset = guardian.current else { return (nil, nil) }
      func may(_ name: String) -> Bool {
        ruleset.decide(RulesRequest(.get, RulesPath("/databases/(default)/documents/\(name)/x"), auth: .null)).isAllowed
      }
      return (may("first"), may("last"))
    }
    let seen = Log<Bool>()
    let changed = Log<Bool?>()
    let registration = guardian.observe { changed.add(answers().last) }
    defer { registration.cancel() }
    let isDone = Locked(false)
    try await withThrowingTaskGroup { group in
      group.addTask {
        for number in 0..<3 { try await guardian.replace(with: large(number % 2 == 0 ? "true" : "false")) }
        isDone.withLock { $0 = true }
      }
      group.addTask {
        while !isDone.withLock({ $0 }) {
          let (first, last) = answers()
          #expect(first != nil && first == last, "half of a ruleset decided")
          seen.add(first == true)
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
    #expect(seen.entries.contains(false), "the old rules decided while the new ones were compiled")
    #expect(changed.entries == [true, false, true])
    #expect(answers().first == true)
    // One that is wrong at its very end changes nothing.
    await #expect(throws: RulesetError.self) { try await guardian.replace(with: large("false") + " }") }
    #expect(answers().first == true && changed.entries.count == 3)
  }
}
