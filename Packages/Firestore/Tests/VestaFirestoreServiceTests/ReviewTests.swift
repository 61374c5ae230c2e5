import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreIndexes
@testable import VestaFirestoreService

/// Faults of the engine that hostile tests have found.
@Suite struct EngineReviewTests {
  private static func ordered(_ field: String) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: field)])
  }

  private static func shapes(_ engine: FirestoreEngine) async throws -> [IndexRow] {
    let database = try await engine.engine(database)
    return try await database.store.read { reader in
      try await reader.entries(in: KeyRange(prefix: database.keys.indexes)).map { try IndexRow($0.value) }
    }
  }

  private static func entryCount(_ engine: FirestoreEngine) async throws -> Int {
    let database = try await engine.engine(database)
    return try await database.store.read { try await $0.entries(in: KeyRange(prefix: database.keys.entries)) }.count
  }

  @Test func `indexes that are in use stay, however many there are`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let fields = ["a", "b", "c", "d"]
    try await engine.commit(update("rooms/x", MapValue(fields.map { ($0, .integer(1)) })))
    for field in fields { _ = try await engine.query(Self.ordered(field)) }
    let keeper = try await engine.engine(database).indexes
    await keeper.settle()
    for _ in 0..<200 {
      for field in fields.dropLast() {
        clock.advance(seconds: 1220)
        _ = try await engine.query(Self.ordered(field))
      }
      await keeper.settle()
    }
    let names = try await Self.shapes(engine).map(\.shape.properties).sorted()
    #expect(names == fields.dropLast().map { "(\($0) ASC, __name__ ASC)" })
    #expect(try await Self.entryCount(engine) == 3)
  }

  @Test func `an index is made when queries have asked for it often enough`() async throws {
    let engine = makeEngine { $0.automaticIndexUses = 3 }
    try await engine.commit(update("rooms/x", ["a": .integer(1)]))
    for count in 1...4 {
      _ = try await engine.query(Self.ordered("a"))
      try await engine.engine(database).indexes.settle()
      #expect(try await Self.shapes(engine).count == (count < 3 ? 0 : 1))
    }
  }

  @Test func `a collection has a bounded number of automatic indexes, and the least recently used is dropped first`()
    async throws
  {
    let clock = ManualClock()
    let engine = makeEngine(clock) { $0.automaticIndexesPerCollection = 3 }
    try await engine.commit(update("rooms/x", MapValue((0..<8).map { ("f\($0)", .integer(1)) })))
    let keeper = try await engine.engine(database).indexes
    for number in 0..<8 {
      #expect(try await engine.query(Self.ordered("f\(number)")).count == 1)
      await keeper.settle()
    }
    // All of them were used within the hour, so none is dropped for another.
    #expect(try await Self.shapes(engine).map(\.shape.parts[0].path.names[0]).sorted() == ["f0", "f1", "f2"])
    clock.advance(seconds: 4000)
    for number in [0, 2, 7] {
      _ = try await engine.query(Self.ordered("f\(number)"))
      await keeper.settle()
    }
    #expect(try await Self.shapes(engine).map(\.shape.parts[0].path.names[0]).sorted() == ["f0", "f2", "f7"])
    #expect(try await Self.entryCount(engine) == 3)
  }

  @Test func `the entries of a dropped index are deleted in small steps`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let writes = (0..<1800).map { update("rooms/\($0)", ["n": .integer(Int64($0)), "m": .null]) }
    _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    for field in ["n", "m"] { _ = try await engine.query(Self.ordered(field)) }
    let keeper = try await engine.engine(database).indexes
    await keeper.settle()
    #expect(try await Self.entryCount(engine) == 3600)
    clock.advance(seconds: 8 * 86_400)
    _ = try await engine.query(Self.ordered("n"))
    await keeper.settle()
    #expect(try await Self.entryCount(engine) == 1800)
    #expect(try await Self.shapes(engine).count == 1)
  }

  private static let wide = (0..<9).map { "f\($0)" }

  private static func wideDocument(_ path: String) -> Write {
    update(path, MapValue(wide.map { ($0, .string(String(repeating: "\0", count: 1400))) }))
  }

  @Test func `an automatic index that a document has too long an entry for is given up, and writes continue`()
    async throws
  {
    let engine = makeEngine()
    let query = StructuredQuery(
      from: [.init(collectionID: "rooms")], orderBy: Self.wide.map { .init(fieldPath: $0) })
    try await engine.commit(update("rooms/a", MapValue(Self.wide.map { ($0, .integer(1)) })))
    _ = try await engine.query(query)
    let keeper = try await engine.engine(database).indexes
    await keeper.settle()
    try await engine.commit(Self.wideDocument("rooms/b"))
    #expect(try await engine.query(query).count == 2)
    await keeper.settle()
    #expect(try await Self.shapes(engine).map(\.progress) == [.unfit])
    #expect(try await Self.entryCount(engine) == 0)
    #expect(try await engine.query(query).count == 2)
    try await engine.commit(update("rooms/c", MapValue(Self.wide.map { ($0, .integer(0)) })))
    #expect(try await engine.query(query).map(\.name).first == name("rooms/c"))
  }

  @Test func `an automatic index is not made where a document has too long an entry for it`() async throws {
    let engine = makeEngine()
    let query = StructuredQuery(
      from: [.init(collectionID: "rooms")], orderBy: Self.wide.map { .init(fieldPath: $0) })
    try await engine.commit(Self.wideDocument("rooms/b"))
    for _ in 0..<3 {
      #expect(try await engine.query(query).count == 1)
      try await engine.engine(database).indexes.settle()
    }
    #expect(try await Self.shapes(engine).map(\.progress) == [.unfit])
  }

  @Test func `a document that has too long an entry for a declared index is refused`() async throws {
    let fields = try Self.wide.map { try FirestoreIndexes.Field($0, .ascending) }
    let declared = FirestoreIndexes(indexes: [try .init(collectionGroup: "rooms", fields: fields)])
    let engine = makeEngine { $0.indexes = declared }
    try await engine.commit(update("rooms/a", ["n": .null]))
    try await engine.engine(database).indexes.settle()
    let refusal = await failure { try await engine.commit(Self.wideDocument("rooms/b")) }
    #expect(refusal?.code == .invalidArgument && refusal?.message.contains("7680") == true)
    #expect(try await engine.get("rooms/b") == nil)
  }

  @Test(.timeLimit(.minutes(10))) func `closing the engine ends the calls that wait for a document`() async throws {
    let engine = makeEngine()
    let holder = try await engine.begin()
    _ = try await engine.get("rooms/a", .transaction(holder))
    _ = try await engine.commit(update("rooms/b", [:]))
    let other = try await engine.begin()
    let waiter = Task { await failure { _ = try await engine.commit(update("rooms/a", [:]), in: other) } }
    let third = try await engine.begin()
    let reader = Task { await failure { _ = try await engine.get("rooms/a", .transaction(third)) } }
    await Task.yield()
    try await engine.close()
    // Callers from before the end were served or refused; none waits for a minute.
    _ = await (waiter.value, reader.value)
  }

  @Test func `a target that is added twice ends`() async throws {
    let engine = makeEngine()
    var follower = try await Follower(engine)
    follower.add(Target(id: 2, .documents([name("rooms/a")])))
    try await follower.snapshot()
    follower.add(Target(id: 2, .documents([name("rooms/b")])))
    let isRemoved = try await follower.read { response in
      if case .targetChange(let change) = response { change.kind == .remove } else { false }
    }
    #expect(isRemoved && follower.causes.count == 1)
    follower.add(Target(id: 4, .documents([name("rooms/c")])))
    try await follower.snapshot()
    let time = try await engine.commit(update("rooms/a", [:]), update("rooms/c", [:])).commitTime
    var sent: [String] = []
    _ = try await follower.read { response in
      if case .documentChange(let change) = response { sent.append(change.document.name) }
      if case .targetChange(let change) = response, change.targetIDs.isEmpty, let read = change.readTime {
        return read >= time
      }
      return false
    }
    #expect(sent == [name("rooms/c")])
    follower.cancel()
  }

  @Test(arguments: [
    ("`w w` desc", "w w", true), ("`a,b`", "a,b", false), ("`a\\`, b` asc", "a`, b", false), (" x  DESC ", "x", true),
  ])
  func `order_by of a listing takes quoted field paths`(text: String, field: String, descending: Bool) async throws {
    let engine = makeEngine()
    for number in 0..<3 { try await engine.commit(update("rooms/\(number)", [field: .integer(Int64(number))])) }
    let request = ListDocumentsRequest(parent: root, collectionID: "rooms", orderBy: text)
    let names = try await engine.listDocuments(request, context: owner).documents.map(\.name)
    let expected = (0..<3).map { name("rooms/\($0)") }
    #expect(names == (descending ? expected.reversed() : expected))
  }

  @Test(arguments: ["`a", "a b c", "a up", "a,,`b"])
  func `order_by that is no list of orders is refused`(text: String) async throws {
    let engine = makeEngine()
    let request = ListDocumentsRequest(parent: root, collectionID: "rooms", orderBy: text)
    #expect(await failure { _ = try await engine.listDocuments(request, context: owner) }?.code == .invalidArgument)
  }

  @Test func `a refused query leaves no transaction open`() async throws {
    let declared = FirestoreIndexes()
    let engine = makeEngine {
      $0.requiresDeclaredIndexes = true
      $0.indexes = declared
    }
    let query = StructuredQuery(
      from: [.init(collectionID: "rooms")], filter: .field(path: "a", .equal, .integer(1)),
      orderBy: [.init(fieldPath: "b")])
    let refusal = await failure { _ = try await engine.query(query, .newTransaction(.readWrite())) }
    #expect(refusal?.code == .failedPrecondition)
    #expect(try await engine.engine(database).transactions.openCount == 0)
    let explained = RunQueryRequest(parent: root, query: query, explain: ExplainOptions(analyze: false))
    #expect(
      await failure { try await engine.runQuery(explained, context: owner) { _ in } }?.code == .failedPrecondition)
  }

  @Test func `an engine for the owner alone refuses every other caller`() async throws {
    let engine = makeEngine { $0.access = .owner }
    let nobody = CallContext()
    let commit = CommitRequest(database: database, writes: [update("rooms/a", [:])])
    #expect(await failure { _ = try await engine.commit(commit, context: nobody) }?.code == .permissionDenied)
    #expect(
      await failure { _ = try await engine.listen(database: database, context: nobody) }?.code == .permissionDenied)
    _ = try await engine.commit(commit, context: owner)
  }

  @Test func `collections and partitions are listed for the owner only`() async throws {
    let engine = makeEngine()
    let user = CallContext(caller: .user(VerifiedUser(uid: "ada")))
    _ = try await engine.commit(CommitRequest(database: database, writes: [update("rooms/a", [:])]), context: user)
    let list = ListCollectionIDsRequest(parent: root)
    #expect(await failure { _ = try await engine.listCollectionIDs(list, context: user) }?.code == .permissionDenied)
    #expect(try await engine.listCollectionIDs(list, context: owner).collectionIDs == ["rooms"])
  }

  @Test func `a transaction reads thousands of documents at the cost of each`() async throws {
    let engine = makeEngine()
    let names = (0..<12_000).map { name("rooms/\($0)") }
    let transaction = try await engine.begin(.readWrite(concurrency: .optimistic))
    let request = BatchGetDocumentsRequest(
      database: database, documents: names, consistency: .transaction(transaction))
    var missing = 0
    // Reading that copied what was read before for each document would take minutes.
    try await engine.batchGet(request, context: owner) { if case .missing? = $0.result { missing += 1 } }
    #expect(missing == 12_000)
    try await engine.commit(update("rooms/0", [:]), in: transaction)
  }
}
