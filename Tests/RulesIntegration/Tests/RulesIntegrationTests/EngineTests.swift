import Testing
import VestaConcurrency
import VestaCore
import VestaCrypto
import VestaFirestoreBackend
import VestaFirestoreService
import VestaMemoryStore
import VestaRules
import VestaRulesGuards
import VestaRulesTesting
import VestaServiceInterop
import VestaStorageBackend
import VestaStorageService

private enum TestRules: Library {
  static let name = "test-rules"

  static func components() -> [Component] {
    [
      Component(RulesSources.self, caching: .shared) { _ in
        RulesSources(
          firestore: .text(EngineTests.firestoreRules(open: false)),
          storage: .text(EngineTests.storageRules(limit: 10)))
      }
    ]
  }
}

@Suite(.serialized) struct EngineTests {
  static func storageRules(limit: Int) -> String {
    """
    rules_version = '2';
    service firebase.storage { match /b/{bucket}/o/teams/{team}/{name} {
      function member() {
        return firestore.get(/databases/(default)/documents/teams/$(team)).data.members[request.auth.uid] == true;
      }
      allow read: if member();
      allow write: if member() && request.resource.size <= \(limit);
    } }
    """
  }

  static func firestoreRules(open: Bool) -> String {
    """
    rules_version = '2';
    service cloud.firestore { match /databases/{database}/documents {
      match /lists/{list} {
        allow read: if resource.data.owner == request.auth.uid || \(open);
        allow create, update: if request.resource.data.owner == request.auth.uid
          && getAfter(/databases/$(database)/documents/sizes/$(list)).data.n == request.resource.data.n;
      }
      match /sizes/{list} { allow write: if request.auth != null; }
      match /stamps/{id} {
        allow create: if request.resource.data.at == request.time;
        allow update: if getAfter(/databases/$(database)/documents/stamps/$(id)).data.at == request.time;
      }
    } }
    """
  }

  private let database = "projects/rules-integration/databases/(default)"
  private func user(_ uid: String) -> CallContext { CallContext(caller: .user(VerifiedUser(uid: uid))) }

  private func withApp(_ body: (VestaApp) async throws -> Void) async throws {
    let app = try VestaApp.configure(
      name: "rules-integration", options: VestaOptions(projectID: "rules-integration"),
      libraries: [
        StorageServiceLibrary.self, FirestoreServiceLibrary.self, MemoryStoreLibrary.self, CryptoLibrary.self,
        RulesLibrary.self, TestRules.self,
      ])
    do {
      try await body(app)
    } catch {
      await app.delete()
      throw error
    }
    await app.delete()
  }

  private func set(_ app: VestaApp, _ path: String, _ fields: MapValue) async throws {
    let document = Document(name: "\(database)/documents/\(path)", fields: fields)
    _ = try await app.container.require((any FirestoreBackend).self).commit(
      CommitRequest(database: database, writes: [.update(document)]), context: .owner)
  }

  private func put(_ app: VestaApp, _ size: Int, as uid: String) async throws {
    _ = try await app.container.require((any StorageBackend).self).putObject(
      UploadRequest(object: ObjectName(bucket: "bucket", name: "teams/red/a")),
      content: Array(repeating: 7, count: size),
      context: user(uid))
  }

  private func expectDenied(_ body: () async throws -> Void) async {
    let error = await #expect(throws: StorageServiceError.self) { try await body() }
    #expect(error?.code == .permissionDenied)
  }

  @Test func `a time of the server is the time of the request`() async throws {
    try await withApp { app in
      let backend = try app.container.require((any FirestoreBackend).self)
      for number in 0..<20 {
        let document = Document(name: "\(database)/documents/stamps/s\(number / 2)", fields: ["n": .integer(1)])
        let write = Write.update(document, transforms: [FieldTransform(fieldPath: "at", .serverTimestamp)])
        _ = try await backend.commit(CommitRequest(database: database, writes: [write]), context: user("ada"))
        let other = Write.update(Document(name: document.name, fields: ["at": .timestamp(Timestamp(seconds: 9))]))
        await #expect(throws: FirestoreServiceError.self) {
          try await backend.commit(CommitRequest(database: database, writes: [other]), context: user("ada"))
        }
      }
    }
  }

  @Test func `rules of Storage see what the engine of Firestore has now`() async throws {
    try await withApp { app in
      await expectDenied { try await put(app, 5, as: "ada") }
      try await set(app, "teams/red", ["members": .map(["ada": .boolean(true)])])
      try await put(app, 5, as: "ada")
      await expectDenied { try await put(app, 5, as: "eve") }
      await expectDenied { try await put(app, 11, as: "ada") }
      try await app.container.require(ProjectRules.self).replace(
        with: RulesSources(storage: .text(Self.storageRules(limit: 11))))
      try await put(app, 11, as: "ada")
      try await set(app, "teams/red", ["members": .map(["eve": .boolean(true)])])
      await expectDenied { try await put(app, 5, as: "ada") }
      try await put(app, 5, as: "eve")
    }
  }

  @Test func `uploads are decided while rules are replaced and documents change`() async throws {
    try await withApp { app in
      let rules = try app.container.require(ProjectRules.self)
      try await set(app, "teams/red", ["members": .map(["ada": .boolean(true)])])
      try await withThrowingTaskGroup { group in
        group.addTask {
          for number in 0..<20 {
            try await rules.replace(with: RulesSources(storage: .text(Self.storageRules(limit: 10 + number))))
          }
        }
        group.addTask {
          for number in 0..<20 { try await set(app, "teams/blue", ["n": .integer(Int64(number))]) }
        }
        for _ in 0..<4 { group.addTask { for _ in 0..<10 { try await put(app, 5, as: "ada") } } }
        for _ in 0..<2 { group.addTask { for _ in 0..<10 { await expectDenied { try await put(app, 5, as: "eve") } } } }
        try await group.waitForAll()
      }
    }
  }

  @Test func `rules are checked with the documents of a running engine`() async throws {
    let source = """
      rules_version = '2';
      service cloud.firestore { match /databases/{database}/documents {
        function role() { return get(/databases/$(database)/documents/users/$(request.auth.uid)).data.role; }
        match /notes/{note} {
          allow get: if resource.data.owner == request.auth.uid || role() == 'admin';
          allow list: if role() == 'admin';
          allow create: if request.resource.data.owner == request.auth.uid
            && getAfter(/databases/$(database)/documents/counts/$(request.auth.uid)).data.n > 0;
          allow update: if request.resource.data.diff(resource.data).affectedKeys().hasOnly(['text']);
          allow delete: if resource.data.owner == request.auth.uid && !exists(/databases/$(database)/documents/kept/$(note));
        }
        match /counts/{user} { allow write: if request.auth.uid == user; }
      } }
      """
    try await withApp { app in
      try await set(app, "users/root", ["role": .string("admin")])
      try await set(app, "notes/n1", ["owner": .string("ada"), "text": .string("hi")])
      try await set(app, "kept/n1", [:])
      let backend = try app.container.require((any FirestoreBackend).self)
      let rules = try RunningRulesTester(firestore: source, backend: backend, project: "rules-integration")
      try await rules.allows(get: "notes/n1", as: .user("ada"))
      try await rules.denies(get: "notes/n1", as: .user("eve"))
      try await rules.allows(get: "notes/n1", as: .user("root"))
      try await rules.allows(query: "notes", as: .user("root"))
      try await rules.denies(query: "notes", as: .user("ada"))
      try await rules.denies(set: "notes/n2", to: ["owner": "ada"], as: .user("ada"))
      try await rules.allows(
        commit: [.set("notes/n2", ["owner": "ada"]), .set("counts/ada", ["n": 1])], as: .user("ada"))
      try await rules.allows(update: "notes/n1", with: ["text": "new"], as: .user("eve"))
      try await rules.denies(update: "notes/n1", with: ["owner": "eve"], as: .user("eve"))
      try await rules.denies(delete: "notes/n1", as: .user("ada"))
      let removal = Write.delete("\(database)/documents/kept/n1")
      _ = try await backend.commit(CommitRequest(database: database, writes: [removal]), context: .owner)
      try await rules.allows(delete: "notes/n1", as: .user("ada"))
      // The engine's documents are as they were.
      try await rules.allows(get: "notes/n1", as: .user("ada"))
      // Every check looks: where another one holds, it does not.
      await #expect(throws: RulesTestFailure.self) { try await rules.denies(query: "notes", as: .user("root")) }
      await #expect(throws: RulesTestFailure.self) { try await rules.denies(delete: "notes/n1", as: .user("ada")) }
      await #expect(throws: RulesTestFailure.self) { try await rules.denies(get: "notes/n1", as: .user("ada")) }
      await #expect(throws: RulesTestFailure.self) { try await rules.allows(delete: "notes/n1", as: .user("eve")) }
      await #expect(throws: RulesTestFailure.self) { try await rules.allows(query: "notes", as: .user("ada")) }
      let failure = await #expect(throws: RulesTestFailure.self) {
        try await rules.allows(get: "notes/n1", as: .user("eve"))
      }
      #expect(failure?.description.contains("resource.data.owner  →  'ada'") == true)
      let lines = rules.rules.coverage.lcov().split(separator: "\n").filter {
        $0.hasPrefix("DA:") && !$0.hasSuffix(",0")
      }
      #expect(!lines.isEmpty)
    }
  }

  @Test func `the engine of Firestore asks the rules of the app, and the rules that replace them`() async throws {
    try await withApp { app in
      let backend = try app.container.require((any FirestoreBackend).self)
      func write(_ collection: String, _ fields: MapValue) -> Write {
        .update(Document(name: "\(database)/documents/\(collection)/l1", fields: fields))
      }
      func commit(_ writes: [Write], as uid: String) async throws(FirestoreServiceError) {
        _ = try await backend.commit(CommitRequest(database: database, writes: writes), context: user(uid))
      }
      func expectDenied(_ body: () async throws -> Void) async {
        let error = await #expect(throws: FirestoreServiceError.self) { try await body() }
        #expect(error?.code == .permissionDenied)
      }
      let list = write("lists", ["owner": .string("ada"), "n": .integer(2)])
      await expectDenied { try await commit([list], as: "ada") }
      await expectDenied { try await commit([list, write("sizes", ["n": .integer(1)])], as: "ada") }
      try await commit([list, write("sizes", ["n": .integer(2)])], as: "ada")

      func get(as uid: String) async throws -> Bool {
        let found = Locked(false)
        let request = BatchGetDocumentsRequest(
          database: database, documents: ["\(database)/documents/lists/l1"], consistency: .latest)
        try await backend.batchGet(request, context: user(uid)) { response in
          if case .found? = response.result { found.withLock { $0 = true } }
        }
        return found.withLock { $0 }
      }
      #expect(try await get(as: "ada"))
      await expectDenied { _ = try await get(as: "eve") }
      try await app.container.require(ProjectRules.self).replace(
        with: RulesSources(firestore: .text(Self.firestoreRules(open: true))))
      #expect(try await get(as: "eve"))
    }
  }
}
