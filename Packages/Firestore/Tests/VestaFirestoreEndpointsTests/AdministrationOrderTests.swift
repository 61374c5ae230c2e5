import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendFakes
import VestaFirestoreReference
import VestaFirestoreWire
import VestaServiceInterop
import VestaTesting
import VestaTransportInteropFakes

@testable import VestaFirestoreEndpoints

/// Lists that change between two pages, and calls that wait.
@Suite struct AdministrationOrderTests {
  private let database = "projects/p/databases/(default)"
  private let admin = FakeFirestoreAdmin(ReferenceBackend())
  private let calls = FirestoreAdministration(
    FakeEndpointHost(project: "p", clock: .system), log: OperationLog(limit: 100))

  private func request(_ name: String) -> NamedRequest {
    var request = NamedRequest()
    request.name = name
    return request
  }

  private func creation(in database: String, _ group: String) -> CreateIndexRequest {
    var (request, index) = (CreateIndexRequest(), AdminIndex())
    (index.scope, index.fields) = (.collection, [.init("a", .ascending), .init("b", .ascending)])
    (request.parent, request.index) = ("\(database)/collectionGroups/\(group)", index)
    return request
  }

  @Test func `the next page of operations follows the last one of the page before, although that one was deleted`()
    async throws
  {
    for group in ["c", "d", "e", "f"] {
      _ = try await calls.createIndex(creation(in: database, group), admin, .owner)
    }
    var pages = PageRequest()
    (pages.parent, pages.pageSize) = (database, 4)
    let all = try await calls.listOperations(pages, admin, .owner).items.map(\.name)
    pages.pageSize = 2
    let first = try await calls.listOperations(pages, admin, .owner)
    #expect(first.items.map(\.name) == Array(all[..<2]))
    _ = try await calls.deleteOperation(request(all[1]), admin, .owner)
    pages.pageToken = first.nextPageToken ?? ""
    // A later one is not on a page that follows.
    _ = try await calls.createIndex(creation(in: database, "g"), admin, .owner)
    let second = try await calls.listOperations(pages, admin, .owner)
    #expect(second.items.map(\.name) == Array(all[2...]) && second.nextPageToken == nil)
  }

  @Test func `the next page of indexes and fields follows the last one of the page before, although it was deleted`()
    async throws
  {
    for group in ["C", "d", "e"] {
      _ = try await calls.createIndex(creation(in: database, group), admin, .owner)
      var update = UpdateFieldRequest()
      (update.field.name, update.field.indexConfig) = ("\(database)/collectionGroups/\(group)/fields/a", .init())
      _ = try await calls.updateField(update, admin, .owner)
    }
    var pages = PageRequest()
    (pages.parent, pages.pageSize) = ("\(database)/collectionGroups/-", 1)
    let first = try await calls.listIndexes(pages, admin, .owner)
    _ = try await calls.deleteIndex(request(first.items[0].name), admin, .owner)
    pages.pageToken = first.nextPageToken ?? ""
    #expect(try await calls.listIndexes(pages, admin, .owner).items.map { $0.name.contains("/d/") } == [true])

    (pages.pageToken, pages.pageSize) = ("", 0)
    let all = try await calls.listFields(pages, admin, .owner).items.map(\.name)
    pages.pageSize = 1
    var paged: [String] = []
    repeat {
      let page = try await calls.listFields(pages, admin, .owner)
      paged += page.items.map(\.name)
      pages.pageToken = page.nextPageToken ?? ""
    } while !pages.pageToken.isEmpty
    #expect(paged == all && Set(all).count == 4)
  }

  @Test func `a change of a field that names no indexes, or leaves them as they are, declares nothing again`()
    async throws
  {
    let sets = Log<String>()
    let watched = WatchedAdmin(base: admin, sets: sets)
    var update = UpdateFieldRequest()
    update.field.name = "\(database)/collectionGroups/c/fields/a"
    update.mask = []
    _ = try await calls.updateField(update, watched, .owner)
    update.mask = ["index_config"]
    _ = try await calls.updateField(update, watched, .owner)
    #expect(sets.entries == [])
    update.field.indexConfig = .init()
    _ = try await calls.updateField(update, watched, .owner)
    _ = try await calls.updateField(update, watched, .owner)
    #expect(sets.entries == [database])
  }

  @Test func `changes by several servers at once are all kept`() async throws {
    let servers = (0..<4).map { _ in
      FirestoreAdministration(FakeEndpointHost(project: "p"), log: OperationLog(limit: 100))
    }
    let admin = ParallelAdmin(base: admin)
    try await withThrowingTaskGroup { group in
      for (number, server) in servers.enumerated() {
        group.addTask { _ = try await server.createIndex(creation(in: database, "c\(number)"), admin, .owner) }
      }
      let text = #"{"indexes": [], "fieldOverrides": [{"collectionGroup": "a", "fieldPath": "m", "indexes": []}]}"#
      group.addTask { try await IndexDeployment.deploy(text, to: database, of: admin, context: .owner) }
      try await group.waitForAll()
    }
    let file = try IndexFile(try await admin.indexes(of: database, context: .owner), of: database)
    #expect(file.indexes(of: "-").count == 4 && file.fields(of: "-").count == 1)
  }

  @Test(.timeLimit(.minutes(10)))
  func `a change of the indexes of one project waits for no other project`() async throws {
    let (gate, asked) = (Gate(), Log<String>())
    let slow = WatchedAdmin(base: admin, slow: database, gate: gate, asked: asked)
    let waiting = Task { try await calls.createIndex(creation(in: database, "c"), slow, .owner) }
    _ = await asked.wait(for: 1)
    let other = "projects/q/databases/(default)"
    _ = try await calls.createIndex(creation(in: other, "c"), slow, .owner)
    #expect(try await admin.indexes(of: database, context: .owner) == nil)
    gate.open()
    _ = try await waiting.value
    #expect(try await admin.indexes(of: database, context: .owner) != nil)
  }
}

/// An administration whose first five readers of the indexes all see those from before.
private struct ParallelAdmin: ForwardingAdmin {
  let base: FakeFirestoreAdmin
  private let readers = Log<Void>()

  init(base: FakeFirestoreAdmin) { self.base = base }

  func indexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String? {
    let text = try await base.indexes(of: database, context: context)
    readers.add(())
    await readers.wait { $0.count >= 5 }
    return text
  }
}

/// An administration that records its calls, and does not return the indexes of one database before a gate is open.
private struct WatchedAdmin: ForwardingAdmin {
  let base: FakeFirestoreAdmin
  var slow: String?
  var gate = Gate()
  var asked = Log<String>()
  var sets = Log<String>()

  func indexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String? {
    asked.add(database)
    if database == slow { await gate.wait() }
    return try await base.indexes(of: database, context: context)
  }

  func setIndexes(
    _ source: String, of database: String, if condition: IndexesCondition, context: CallContext
  ) async throws(FirestoreServiceError) {
    sets.add(database)
    try await base.setIndexes(source, of: database, if: condition, context: context)
  }
}

/// An administration around another one; its calls are the other one's.
private protocol ForwardingAdmin: FirestoreAdminBackend {
  var base: FakeFirestoreAdmin { get }
}

extension ForwardingAdmin {
  func setIndexes(
    _ source: String, of database: String, if condition: IndexesCondition, context: CallContext
  ) async throws(FirestoreServiceError) {
    try await base.setIndexes(source, of: database, if: condition, context: context)
  }

  func databases(context: CallContext) async throws(FirestoreServiceError) -> [String] {
    try await base.databases(context: context)
  }

  func createDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    try await base.createDatabase(database, context: context)
  }

  func deleteDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    try await base.deleteDatabase(database, context: context)
  }

  func clear(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    try await base.clear(database, context: context)
  }

  func export(
    _ database: String, context: CallContext, to receive: ([Document]) async throws -> Void
  ) async throws {
    try await base.export(database, context: context, to: receive)
  }

  func `import`(
    _ database: String, context: CallContext, from next: () async throws -> [Document]?
  ) async throws {
    try await base.import(database, context: context, from: next)
  }
}
