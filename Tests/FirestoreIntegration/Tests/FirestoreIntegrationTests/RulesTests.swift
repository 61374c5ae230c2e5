import Foundation
import Testing
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaRulesGuards
import VestaSQLite
import VestaServiceInterop
import VestaServiceInteropFakes

/// An app whose engine decides by a rules file, put together from the libraries.
@Suite(.timeLimit(.minutes(5))) struct RulesTests {
  /// The contributions of a library of security rules, and of one that verifies tokens.
  private enum TestRulesLibrary: Library {
    static let name = "test-rules"
    static let version = "1"
    static let rules = FirestoreRulesGuard()
    static let verifier = FakeCallerVerifier()

    static func components() -> [Component] {
      [
        Component((any FirestoreGuard).self) { _, isCacheable in
          isCacheable = true
          return rules
        },
        Component((any CallerVerifier).self) { _, isCacheable in
          isCacheable = true
          return verifier
        },
      ]
    }
  }

  private static let source = """
    rules_version = '2';
    service cloud.firestore { match /databases/{database}/documents {
      function member(room) { return /databases/$(database)/documents/rooms/$(room)/members/$(request.auth.uid); }
      match /rooms/{room} {
        allow get: if resource == null || resource.data.open == true || exists(member(room));
        allow list: if resource.data.open == true;
        allow create: if getAfter(member(room)).data.role == 'owner';
        allow update: if exists(member(room)) && request.resource.data.n == resource.data.n + 1;
        match /members/{uid} {
          allow create: if request.auth.uid == uid && !exists(/databases/$(database)/documents/rooms/$(room));
        }
      }
    } }
    """

  private struct House {
    let backend: any FirestoreBackend
    let ada = CallContext(caller: .credential(TestRulesLibrary.verifier.issue("ada")))
    let eve = CallContext(caller: .credential(TestRulesLibrary.verifier.issue("eve")))
    let database = "projects/demo/databases/(default)"

    func name(_ path: String) -> String { "\(database)/documents/\(path)" }

    func set(_ path: String, _ fields: MapValue) -> Write { .update(Document(name: name(path), fields: fields)) }

    /// The code of a refusal; `nil` for none.
    func code(_ call: () async throws -> Void) async -> ServiceCode? {
      do {
        try await call()
        return nil
      } catch {
        return (error as? FirestoreServiceError)?.code ?? .unknown
      }
    }

    func commit(_ writes: Write..., as context: CallContext) async -> ServiceCode? {
      await code { _ = try await backend.commit(CommitRequest(database: database, writes: writes), context: context) }
    }

    func get(_ path: String, as context: CallContext) async -> ServiceCode? {
      let request = BatchGetDocumentsRequest(database: database, documents: [name(path)])
      return await code { try await backend.batchGet(request, context: context) { _ in } }
    }

    func list(_ filter: VestaFirestoreBackend.Filter?, as context: CallContext) async -> ServiceCode? {
      let query = StructuredQuery(from: [.init(collectionID: "rooms")], filter: filter)
      let request = RunQueryRequest(parent: "\(database)/documents", query: query)
      return await code { try await backend.runQuery(request, context: context) { _ in } }
    }
  }

  @Test func `rules decide about commits, reads, queries and targets, and can be replaced`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "vesta-rules-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: directory) }
    let app = try VestaApp.configure(
      name: directory.lastPathComponent,
      options: VestaOptions(projectID: "demo", backend: .embedded(directory: directory)),
      libraries: [
        FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self, TestRulesLibrary.self,
      ])
    let house = House(backend: try app.container.require((any FirestoreBackend).self))
    // Before there are rules everything is denied.
    #expect(await house.get("rooms/a", as: house.ada) == .permissionDenied)
    try await TestRulesLibrary.rules.replace(with: Self.source)
    try await checkCommits(house)
    try await checkReads(house)
    try await checkTargets(house)

    // The client of the app, in which no user is signed in.
    let db = try Firestore.instance(for: app)
    #expect(try await db.document("rooms/open").getDocument().exists)
    for refused in [
      { _ = try await db.document("rooms/a").getDocument() }, { try await db.document("rooms/new").setData([:]) },
      { _ = try await db.collection("rooms").getDocuments() },
    ] as [() async throws -> Void] {
      let error = await #expect(throws: FirestoreErrorCode.self) { try await refused() }
      #expect(error?.code == .permissionDenied)
    }
    let open = try await db.collection("rooms").whereField("open", isEqualTo: true).getDocuments()
    #expect(open.documents.map(\.documentID) == ["open"])
    await app.delete()
  }

  private func checkCommits(_ house: House) async throws {
    let room = house.set("rooms/a", ["n": .integer(1), "open": .boolean(true)])
    let member = house.set("rooms/a/members/ada", ["role": .string("owner")])
    #expect(await house.commit(room, as: house.ada) == .permissionDenied)
    #expect(await house.commit(room, member, as: house.eve) == .permissionDenied)
    #expect(await house.commit(room, member, as: house.ada) == nil)
    let next = house.set("rooms/a", ["n": .integer(2), "open": .boolean(true)])
    #expect(await house.commit(next, as: house.eve) == .permissionDenied)
    #expect(await house.commit(next, as: house.ada) == nil)
    #expect(await house.commit(next, as: house.ada) == .permissionDenied)
    #expect(await house.commit(.delete(house.name("rooms/a")), as: house.ada) == .permissionDenied)
    #expect(await house.commit(house.set("rooms/open", ["open": .boolean(true)]), as: .owner) == nil)
  }

  private func checkReads(_ house: House) async throws {
    #expect(await house.get("rooms/a", as: house.eve) == nil)
    #expect(await house.get("rooms/a/members/ada", as: house.eve) == .permissionDenied)
    #expect(await house.list(nil, as: house.ada) == .permissionDenied)
    #expect(await house.list(.field(path: "open", .equal, .boolean(true)), as: house.eve) == nil)
    #expect(await house.list(nil, as: .owner) == nil)
    let forged = CallContext(caller: .credential(.idToken("forged")))
    #expect(await house.get("rooms/a", as: forged) == .unauthenticated)
  }

  /// A document that is followed, until the rules deny what has become of it.
  private func checkTargets(_ house: House) async throws {
    let call = try await house.backend.listen(database: house.database, context: house.eve)
    call.send(.addTarget(Target(id: 1, .documents([house.name("rooms/a")]))))
    let query = StructuredQuery(
      from: [.init(collectionID: "rooms")], filter: .field(path: "open", .equal, .boolean(true)))
    call.send(.addTarget(Target(id: 2, .query(parent: "\(house.database)/documents", query))))
    call.send(
      .addTarget(Target(id: 3, .query(parent: "\(house.database)/documents", StructuredQuery(from: query.from)))))
    var ended: [Int32: ServiceCode?] = [:]
    var current: Set<Int32> = []
    var sent: [MapValue] = []
    for try await batch in call.responses {
      for response in batch {
        switch response {
        case .targetChange(let change) where change.kind == .remove:
          for id in change.targetIDs { ended[id] = change.cause?.code }
        case .targetChange(let change) where change.kind == .current: current.formUnion(change.targetIDs)
        case .documentChange(let change): sent.append(change.document.fields)
        default: break
        }
      }
      if current == [1, 2], ended.keys.sorted() == [3] {
        current = []
        let closed = house.set("rooms/a", ["n": .integer(3), "open": .boolean(false)])
        #expect(await house.commit(closed, as: house.ada) == nil)
      }
      // The query lost the document and continues, until the rules allow no query.
      if ended.keys.sorted() == [1, 3] {
        try await TestRulesLibrary.rules.replace(
          with: Self.source.replacing("allow list: if resource.data.open == true;", with: ""))
      }
      if ended.count == 3 { break }
    }
    #expect(ended == [1: .permissionDenied, 2: .permissionDenied, 3: .permissionDenied])
    #expect(!sent.contains { $0["open"] == .boolean(false) })
    call.cancel()
    try await TestRulesLibrary.rules.replace(with: Self.source)
  }
}
