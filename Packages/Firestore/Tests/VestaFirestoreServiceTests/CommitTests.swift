import Testing
import VestaFirestoreBackend
import VestaFirestoreService

struct CommitTests {
  @Test func `a document is read as it was written`() async throws {
    let engine = makeEngine()
    let fields: MapValue = [
      "a": .array([.integer(1), .double(.nan), .null, .map(["x": .boolean(true)])]),
      "b": .bytes([0, 255]), "g": .geoPoint(GeoPoint(latitude: 1, longitude: -2)),
      "r": .reference(name("rooms/b")), "s": .string("naïve"), "v": .vector([1, 2]),
    ]
    let commit = try await engine.commit(update("rooms/a", fields))
    let document = try #require(try await engine.get("rooms/a"))
    #expect(document.fields == fields)
    #expect(document.createTime == commit.commitTime)
    #expect(document.updateTime == commit.commitTime)
  }

  @Test func `times are cut to microseconds`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["t": .timestamp(Timestamp(seconds: 5, nanos: 1_999))]))
    #expect(try await engine.get("rooms/a")?.fields["t"] == .timestamp(Timestamp(seconds: 5, nanos: 1_000)))
  }

  @Test func `commit times grow while the clock does not move`() async throws {
    let engine = makeEngine()
    var last = Timestamp(seconds: 0)
    for number in 0..<20 {
      let time = try await engine.commit(update("rooms/a", ["n": .integer(Int64(number))])).commitTime
      #expect(last < time)
      last = time
    }
  }

  @Test func `a failed precondition leaves nothing behind`() async throws {
    let engine = makeEngine()
    let error = await failure {
      try await engine.commit(
        update("rooms/a", ["n": .integer(1)]), update("rooms/b", [:], precondition: .exists(true)))
    }
    #expect(error?.code == .notFound)
    #expect(error?.message == "No document to update: \(name("rooms/b"))")
    #expect(try await engine.get("rooms/a") == nil)
  }

  @Test func `later writes of a commit see earlier ones`() async throws {
    let engine = makeEngine()
    let increment = Write(
      .transform(name: name("rooms/a"), transforms: [FieldTransform(fieldPath: "n", .increment(.integer(2)))]))
    let commit = try await engine.commit(update("rooms/a", ["n": .integer(1)]), increment, increment)
    #expect(commit.writeResults.map(\.transformResults) == [[], [.integer(3)], [.integer(5)]])
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(5))
  }

  @Test func `a write that changes nothing keeps the time of change`() async throws {
    let engine = makeEngine()
    let first = try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let second = try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    #expect(second.writeResults[0].updateTime == first.commitTime)
    #expect(try await engine.get("rooms/a")?.updateTime == first.commitTime)
  }

  @Test func `a document that is created again has a new creation time`() async throws {
    let engine = makeEngine()
    let first = try await engine.commit(update("rooms/a", [:]))
    try await engine.commit(.delete(name("rooms/a")))
    #expect(try await engine.get("rooms/a") == nil)
    try await engine.commit(update("rooms/a", [:]))
    #expect(try #require(try await engine.get("rooms/a")?.createTime) > first.commitTime)
  }

  @Test func `a batch applies what it can`() async throws {
    let engine = makeEngine()
    let writes = [update("rooms/a", [:]), update("rooms/b", [:], precondition: .exists(true))]
    let response = try await engine.batchWrite(BatchWriteRequest(database: database, writes: writes), context: owner)
    #expect((try? response.results[0].get()) != nil)
    #expect(throws: FirestoreServiceError.self) { try response.results[1].get() }
    let twice = await failure {
      let request = BatchWriteRequest(database: database, writes: [writes[0], writes[0]])
      _ = try await engine.batchWrite(request, context: owner)
    }
    #expect(twice?.code == .invalidArgument)
  }

  @Test func `a batch of a user is refused where the options say so, after one with a document twice`() async throws {
    for refuses in [false, true] {
      let engine = makeEngine { $0.refusesBatchWritesOfUsers = refuses }
      func code(_ paths: [String], _ context: CallContext) async -> FirestoreServiceError? {
        await failure {
          let request = BatchWriteRequest(database: database, writes: paths.map { update($0, [:]) })
          _ = try await engine.batchWrite(request, context: context)
        }
      }
      let nobody = CallContext(caller: .nobody)
      #expect(await code(["rooms/a"], owner) == nil)
      #expect(await code(["rooms/b"], nobody)?.code == (refuses ? .permissionDenied : nil))
      #expect(await code(["rooms/b", "rooms/b"], nobody)?.code == .invalidArgument)
      #expect(try await engine.get("rooms/b") == nil || !refuses)
    }
  }

  @Test func `databases know nothing of each other`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", [:]))
    let other = "projects/p/databases/other"
    let write = Write.update(Document(name: other + "/documents/rooms/b"))
    _ = try await engine.commit(CommitRequest(database: other, writes: [write]), context: owner)
    var results: [BatchGetDocumentsResponse.Result?] = []
    let request = BatchGetDocumentsRequest(database: other, documents: [other + "/documents/rooms/a"])
    try await engine.batchGet(request, context: owner) { results.append($0.result) }
    #expect(results == [.missing(other + "/documents/rooms/a")])
  }

  @Test func `a closed engine is unavailable`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", [:]))
    try await engine.close()
    #expect(await failure { _ = try await engine.get("rooms/a") }?.code == .unavailable)
    #expect(await failure { try await engine.commit(update("rooms/a", [:])) }?.code == .unavailable)
  }
}
