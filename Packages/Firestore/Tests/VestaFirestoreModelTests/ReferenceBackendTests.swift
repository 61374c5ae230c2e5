import Testing
import VestaFirestoreBackend
import VestaFirestoreReference

@Suite struct ReferenceBackendTests {
  let backend = ReferenceBackend()
  let database = "projects/demo/databases/(default)"
  let owner = CallContext(caller: .owner)

  func commit(_ writes: [Write]) async throws -> CommitResponse {
    try await backend.commit(CommitRequest(database: database, writes: writes), context: owner)
  }

  @Test func `commits are all or nothing`() async throws {
    let name = "\(database)/documents/rooms/a"
    let first = try await commit([.update(Document(name: name, fields: ["n": .integer(1)]))])
    let bad: [Write] = [.delete(name), .delete(name, precondition: .exists(true))]
    await #expect(throws: FirestoreServiceError.self) { try await commit(bad) }
    var found: [BatchGetDocumentsResponse.Result?] = []
    let request = BatchGetDocumentsRequest(
      database: database, documents: [name, name, "\(database)/documents/rooms/b"])
    try await backend.batchGet(request, context: owner) { found.append($0.result) }
    let document = Document(
      name: name, fields: ["n": .integer(1)], createTime: first.commitTime, updateTime: first.commitTime
    )
    #expect(found == [.found(document), .missing("\(database)/documents/rooms/b")])
  }

  @Test func `queries without results tell their read time`() async throws {
    var responses: [RunQueryResponse] = []
    let query = StructuredQuery(from: [.init(collectionID: "rooms")])
    try await backend.runQuery(RunQueryRequest(parent: "\(database)/documents", query: query), context: owner) {
      responses.append($0)
    }
    #expect(responses.count == 1 && responses[0].document == nil && responses[0].readTime != nil)
  }

  @Test func `batches tell what became of each write`() async throws {
    let good = Write.update(Document(name: "\(database)/documents/rooms/a/seats/1"))
    let bad = Write.delete("\(database)/documents/rooms/b", precondition: .exists(true))
    let request = BatchWriteRequest(database: database, writes: [bad, good])
    let results = try await backend.batchWrite(request, context: owner).results
    #expect(throws: FirestoreServiceError.self) { try results[0].get() }
    #expect(throws: Never.self) { try results[1].get() }
    let parent = ListCollectionIDsRequest(parent: "\(database)/documents/rooms/a")
    #expect(try await backend.listCollectionIDs(parent, context: owner).collectionIDs == ["seats"])
  }

  @Test func `what is absent is refused`() async {
    await #expect(throws: FirestoreServiceError.self) {
      _ = try await backend.listen(database: database, context: owner)
    }
    let request = BeginTransactionRequest(database: database)
    await #expect(throws: FirestoreServiceError.self) {
      _ = try await backend.beginTransaction(request, context: owner)
    }
  }
}
