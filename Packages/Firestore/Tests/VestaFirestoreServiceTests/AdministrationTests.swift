import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaServiceInterop
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Databases as a whole: which there are, their indexes, exports, imports and clears.
@Suite struct AdministrationTests {
  @Test(arguments: FirestoreAdminContracts.all)
  func `the engine keeps the contract, whatever its sizes are`(contract: Contract<FirestoreAdminSubject>) async throws {
    for seed: UInt64 in 0..<6 {
      let engine = makeEngine(on: ModelStore()) { if seed > 0 { $0.tuning = .random(seed: seed) } }
      try await contract.verify(FirestoreAdminSubject(engine, admin: engine))
      try await engine.close()
    }
  }

  private static let broken: [(WrongAdmin.Flaw, String)] = [
    (.servesEveryone, "every call is the owner's"),
    (.makesTwice, "a database is made once, by its creation or by a write, and listed"),
    (.listsNone, "a database is made once, by its creation or by a write, and listed"),
    (
      .deletesDocumentsAlone,
      "a deleted database is empty and listed no longer, until a write or its creation makes it anew"
    ),
    (.keepsIndexes, "a deleted database is empty and listed no longer, until a write or its creation makes it anew"),
    (.forgetsIndexes, "indexes that were set are told, and a text that is none changes nothing"),
    (.takesAnyIndexes, "indexes that were set are told, and a text that is none changes nothing"),
    (.comparesBeforehand, "of changes of the same indexes one is made, and the others change nothing"),
    (.exportsWithoutTimes, "an export has every document once, with its times, and is of one moment"),
    (.exportsTwice, "an export has every document once, with its times, and is of one moment"),
    (.exportsLater, "an export has every document once, with its times, and is of one moment"),
    (.importsWithoutTimes, "what an export gives, an import takes, times of creation included"),
    (.losesTheLastPart, "what an export gives, an import takes, times of creation included"),
    (.importsWithoutTimes, "an import replaces what it names, leaves the rest, and makes no document older"),
    (.clearsBefore, "an import replaces what it names, leaves the rest, and makes no document older"),
    (.clearsOneLevel, "a clear deletes everything, and what is written afterwards stays"),
    (.clearsOneLevel, "a listener that is open while a database is cleared sees the deletions"),
    (.clearsOneLevel, "a target that is resumed after a clear has nothing of before"),
  ]

  @Test(arguments: broken)
  fileprivate func `a wrong administration is caught by the promise that it breaks`(
    flaw: WrongAdmin.Flaw, promise: String
  ) async throws {
    let engine = makeEngine(on: ModelStore()) { $0.tuning.administration.exportLength = 2 }
    let contract = try #require(FirestoreAdminContracts.all.first { $0.name == promise })
    await #expect(throws: (any Error).self) {
      try await contract.verify(FirestoreAdminSubject(engine, admin: WrongAdmin(base: engine, flaw: flaw)))
    }
    try await engine.close()
  }

  @Test func `a read creates a database where the options say so, and nowhere else`() async throws {
    let name = "projects/p/databases/other"
    let query = RunQueryRequest(
      parent: "\(name)/documents", query: StructuredQuery(from: [.init(collectionID: "a")]))
    for creates in [false, true] {
      let engine = makeEngine(on: ModelStore()) { $0.createsDatabasesByReading = creates }
      var code: ServiceCode?
      do {
        try await engine.runQuery(query, context: owner) { _ in }
      } catch let error as FirestoreServiceError {
        code = error.code
      }
      #expect(code == (creates ? nil : .notFound))
      #expect(try await engine.databases(context: owner) == (creates ? [name] : []))
      try await engine.close()
    }
  }

  @Test func `a user's write makes the databases alone that the options name`() async throws {
    let store = ModelStore()
    let engine = makeEngine(on: store) { $0.databasesOfUsers = ["named"] }
    func write(_ database: String, as context: CallContext) async -> ServiceCode? {
      let name = "projects/p/databases/\(database)/documents/a/1"
      do {
        _ = try await engine.commit(
          CommitRequest(
            database: "projects/p/databases/\(database)", writes: [.update(Document(name: name, fields: [:]))]),
          context: context)
        return nil
      } catch {
        return error.code
      }
    }
    let user = CallContext()
    #expect(await write("other", as: user) == .notFound)
    #expect(await write("named", as: user) == nil)
    #expect(await write("(default)", as: user) == nil)
    #expect(await write("other", as: owner) == nil)
    #expect(await write("other", as: user) == nil)
    #expect(await write("third", as: user) == .notFound)
    #expect(
      try await engine.databases(context: owner)
        == ["(default)", "named", "other"].map { "projects/p/databases/\($0)" })
    try await engine.close()
  }

  @Test func `what another engine writes makes a deleted database exist again`() async throws {
    let store = ModelStore()
    let (first, second) = (makeEngine(on: store), makeEngine(on: store))
    func names(_ engine: FirestoreEngine) async throws -> [String] {
      var names: [String] = []
      try await engine.export(database, context: owner) { names += $0.map { String($0.name.suffix(3)) } }
      return names
    }
    try await first.commit(update("a/1", ["n": .integer(1)]))
    #expect(try await names(second) == ["a/1"])
    try await first.deleteDatabase(database, context: owner)
    #expect(try await first.databases(context: owner).isEmpty)
    #expect(try await second.databases(context: owner).isEmpty)
    // The second engine knows the number of the database, and does not ask for it.
    try await second.commit(update("a/2", ["n": .integer(2)]))
    for engine in [first, second] {
      #expect(try await engine.databases(context: owner) == [database])
      #expect(try await names(engine) == ["a/2"])
    }
    let again = makeEngine(on: store)
    #expect(try await names(again) == ["a/2"])
    for engine in [first, second, again] { try await engine.close() }
  }

  @Test func `indexes that are declared at run time answer queries, also after a restart and in another engine`()
    async throws
  {
    let store = ModelStore()
    let (first, second) = (
      makeEngine(on: store) { $0.requiresDeclaredIndexes = true },
      makeEngine(on: store) { $0.requiresDeclaredIndexes = true }
    )
    let query = StructuredQuery(
      from: [.init(collectionID: "a")], filter: .field(path: "n", .equal, .integer(1)),
      orderBy: [.init(fieldPath: "m", .descending)])
    func found(_ engine: FirestoreEngine) async throws -> Int {
      var count = 0
      try await engine.runQuery(RunQueryRequest(parent: root, query: query), context: owner) {
        if $0.document != nil { count += 1 }
      }
      return count
    }
    try await first.commit(update("a/1", ["n": .integer(1), "m": .integer(2)]))
    for engine in [first, second] {
      let error = await #expect(throws: FirestoreServiceError.self) { try await found(engine) }
      #expect(error?.code == .failedPrecondition)
    }
    let text = """
      {"indexes": [{"collectionGroup": "a", "fields": [
        {"fieldPath": "n", "order": "ASCENDING"}, {"fieldPath": "m", "order": "DESCENDING"}]}]}
      """
    try await first.setIndexes(text, of: database, context: owner)
    try await first.engine(database).indexes.settle()
    #expect(try await found(first) == 1)
    #expect(try await found(second) == 1)
    #expect(try await second.indexes(of: database, context: owner) == text)
    let third = makeEngine(on: store) { $0.requiresDeclaredIndexes = true }
    #expect(try await found(third) == 1)
    try await first.setIndexes("{}", of: database, context: owner)
    await #expect(throws: FirestoreServiceError.self) { try await found(third) }
    try await first.close()
  }

  @Test func `a listener that is open while documents are imported sees them with their times of creation`()
    async throws
  {
    let engine = makeEngine(on: ModelStore())
    try await engine.commit(update("a/1", ["n": .integer(1)]), update("b/1", [:]))
    var documents: [Document] = []
    try await engine.export(database, context: owner) { documents += $0 }
    let other = "projects/p/databases/other"
    try await engine.createDatabase(other, context: owner)
    let call = try await engine.listen(database: other, context: owner)
    let query = StructuredQuery(from: [.init(collectionID: "a")])
    let target = Target(id: 1, .query(parent: other + "/documents", query))
    call.send(.addTarget(target))
    let seen = Log<Document>()
    let current = Log<Void>()
    let reading = Task {
      for try await responses in call.responses {
        for response in responses {
          switch response {
          case .documentChange(let change): seen.add(change.document)
          case .targetChange(let change) where change.kind == .current: current.add(())
          default: break
          }
        }
      }
    }
    await current.wait { !$0.isEmpty }
    var rest: [Document]? = documents
    try await engine.import(other, context: owner) {
      defer { rest = nil }
      return rest
    }
    await seen.wait { !$0.isEmpty }
    #expect(seen.entries.last?.createTime == documents.first { $0.name.hasSuffix("/a/1") }?.createTime)
    call.cancel()
    _ = await reading.result
    try await engine.close()
  }
}

/// An administration that does one thing wrong, around the real one.
private struct WrongAdmin: FirestoreAdminBackend {
  enum Flaw {
    case servesEveryone, makesTwice, listsNone, forgetsIndexes, takesAnyIndexes, exportsWithoutTimes, exportsTwice
    case deletesDocumentsAlone, keepsIndexes, exportsLater, importsWithoutTimes, losesTheLastPart, clearsBefore
    case clearsOneLevel, comparesBeforehand
  }

  let base: FirestoreEngine
  let flaw: Flaw
  private let compared = Log<Void>()

  init(base: FirestoreEngine, flaw: Flaw) {
    self.base = base
    self.flaw = flaw
  }

  private func context(_ context: CallContext) -> CallContext { flaw == .servesEveryone ? .owner : context }

  func databases(context: CallContext) async throws(FirestoreServiceError) -> [String] {
    let all = try await base.databases(context: self.context(context))
    return flaw == .listsNone ? [] : all
  }

  func createDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    do {
      try await base.createDatabase(database, context: self.context(context))
    } catch {
      if flaw != .makesTwice || error.code != .alreadyExists { throw error }
    }
  }

  func deleteDatabase(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    switch flaw {
    case .deletesDocumentsAlone: try await base.clear(database, context: self.context(context))
    case .keepsIndexes:
      let text = try await base.indexes(of: database, context: self.context(context))
      try await base.deleteDatabase(database, context: self.context(context))
      if let text { try await base.setIndexes(text, of: database, context: self.context(context)) }
    default: try await base.deleteDatabase(database, context: self.context(context))
    }
  }

  func indexes(of database: String, context: CallContext) async throws(FirestoreServiceError) -> String? {
    let text = try await base.indexes(of: database, context: self.context(context))
    return flaw == .forgetsIndexes ? nil : text
  }

  func setIndexes(
    _ source: String, of database: String, if condition: IndexesCondition, context: CallContext
  ) async throws(FirestoreServiceError) {
    do throws(FirestoreServiceError) {
      if flaw == .comparesBeforehand, case .text(let text) = condition {
        let current = try await base.indexes(of: database, context: owner)
        guard current == text else { throw IndexesCondition.changed }
        compared.add(())
        await compared.wait { $0.count >= 4 }
        return try await base.setIndexes(source, of: database, context: self.context(context))
      }
      try await base.setIndexes(source, of: database, if: condition, context: self.context(context))
    } catch {
      if flaw != .takesAnyIndexes { throw error }
    }
  }

  func clear(_ database: String, context: CallContext) async throws(FirestoreServiceError) {
    guard flaw == .clearsOneLevel else { return try await base.clear(database, context: self.context(context)) }
    let names = Locked<[String]>([])
    do {
      try await base.runQuery(
        RunQueryRequest(parent: database + "/documents", query: StructuredQuery(from: [.init(collectionID: "a")])),
        context: owner
      ) { response in if let document = response.document { names.withLock { $0.append(document.name) } } }
    } catch {
      throw FirestoreServiceError(.internal, "\(error)")
    }
    let writes = names.withLock { $0 }.map { Write.delete($0) }
    _ = try await base.commit(CommitRequest(database: database, writes: writes), context: owner)
  }

  func export(_ database: String, context: CallContext, to receive: ([Document]) async throws -> Void) async throws {
    try await base.export(database, context: self.context(context)) { part in
      switch flaw {
      case .exportsWithoutTimes: try await receive(part.map { Document(name: $0.name, fields: $0.fields) })
      case .exportsTwice:
        try await receive(part)
        try await receive(part)
      default: try await receive(part)
      }
    }
    guard flaw == .exportsLater else { return }
    let name = database + "/documents/zz/late"
    let read = BatchGetDocumentsRequest(database: database, documents: [name])
    try await base.batchGet(read, context: owner) { response in
      if case .found(let document)? = response.result { try await receive([document]) }
    }
  }

  func `import`(_ database: String, context: CallContext, from next: () async throws -> [Document]?) async throws {
    if flaw == .clearsBefore { try await base.clear(database, context: owner) }
    var parts: [[Document]] = []
    while let part = try await next() { parts.append(part) }
    if flaw == .losesTheLastPart { parts.removeLast() }
    if flaw == .importsWithoutTimes { parts = parts.map { $0.map { Document(name: $0.name, fields: $0.fields) } } }
    var rest = parts[...]
    try await base.import(database, context: self.context(context)) { rest.popFirst() }
  }
}
