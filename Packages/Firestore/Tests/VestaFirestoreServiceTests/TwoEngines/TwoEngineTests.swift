import Testing
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Two engines on one store, as two processes have it.
@Suite struct TwoEngineTests {
  @Test(arguments: FirestoreContracts.all)
  func `two engines keep the promise of one`(_ contract: Contract<FirestoreSubject>) async throws {
    try await contract.verify(FirestoreSubject(SpreadBackend(twoEngines(), seed: 1)))
  }

  @Test(arguments: FirestoreContracts.listening + FirestoreContracts.resuming)
  func `two engines on a store that reports no commits keep it too`(
    _ contract: Contract<FirestoreSubject>
  ) async throws {
    try await contract.verify(FirestoreSubject(SpreadBackend(twoEngines(isSilent: true), seed: 4)))
  }

  @Test func `a database that one engine makes exists in the other`() async throws {
    let engines = twoEngines()
    let other = "projects/p/databases/other"
    let read = BatchGetDocumentsRequest(database: other, documents: [other + "/documents/a/b"])
    let before = await failure { try await engines[1].batchGet(read, context: owner) { _ in } }
    #expect(before?.code == .notFound)
    let write = Write.update(Document(name: other + "/documents/a/b", fields: ["n": .integer(1)]))
    _ = try await engines[0].commit(CommitRequest(database: other, writes: [write]), context: owner)
    var found = 0
    try await engines[1].batchGet(read, context: owner) { response in
      if case .found = response.result { found += 1 }
    }
    #expect(found == 1)
  }

  @Test func `engines that make databases at once give each a separate number`() async throws {
    let engines = twoEngines()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<40 {
        let name = "projects/p/databases/d\(number / 2)"
        let path = name + "/documents/a/b\(number % 2)"
        group.addTask {
          let write = Write.update(Document(name: path, fields: ["d": .integer(Int64(number / 2))]))
          _ = try await engines[number % 2].commit(CommitRequest(database: name, writes: [write]), context: owner)
        }
      }
      try await group.waitForAll()
    }
    for number in 0..<20 {
      let name = "projects/p/databases/d\(number)"
      var found: [Document] = []
      let request = RunQueryRequest(parent: name + "/documents", query: .all("a"))
      try await engines[number % 2].runQuery(request, context: owner) { found += $0.document.map { [$0] } ?? [] }
      #expect(found.map { $0.fields["d"] } == [.integer(Int64(number)), .integer(Int64(number))])
    }
  }

  // MARK: Transactions

  @Test func `a transaction that writes is refused with ABORTED by the engine that did not begin it`() async throws {
    let engines = twoEngines()
    try await engines[0].commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engines[0].begin()
    _ = try await engines[0].get("rooms/a", .transaction(id))
    #expect(engines[0].serves(transaction: id) && !engines[1].serves(transaction: id))
    let read = await failure { _ = try await engines[1].get("rooms/a", .transaction(id)) }
    let commit = await failure { try await engines[1].commit(update("rooms/a", [:]), in: id) }
    let rollback = await failure {
      try await engines[1].rollback(RollbackRequest(database: database, transaction: id), context: owner)
    }
    for refusal in [read, commit, rollback] { #expect(refusal == .transactionOfAnotherEngine) }
    // It is none the worse for it.
    try await engines[0].commit(update("rooms/a", ["n": .integer(2)]), in: id)
    #expect(try await engines[1].get("rooms/a")?.fields["n"] == .integer(2))
  }

  @Test func `a transaction that only reads continues in the other engine at its version`() async throws {
    let clock = ManualClock()
    let engines = twoEngines(on: ModelStore(clock: clock.ofStore), clock)
    try await engines[0].commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engines[0].begin(.readOnly())
    try await engines[1].commit(update("rooms/a", ["n": .integer(2)]))
    for engine in engines + engines {
      #expect(try await engine.get("rooms/a", .transaction(id))?.fields["n"] == .integer(1))
    }
    let write = await failure { try await engines[1].commit(update("rooms/b", [:]), in: id) }
    #expect(write?.code == .invalidArgument)
    clock.advance(seconds: 300)
    for engine in engines {
      let late = await failure { _ = try await engine.get("rooms/a", .transaction(id)) }
      #expect(late?.code == .invalidArgument)
    }
  }

  @Test func `identifiers that no engine has given out are no other engine's`() async throws {
    let engines = twoEngines()
    let id = try await engines[0].begin()
    for index in id.indices {
      var wrong = id
      wrong[index] ^= 1
      let refusal = await failure { _ = try await engines[1].get("rooms/a", .transaction(wrong)) }
      #expect(refusal?.code == .invalidArgument, "byte \(index)")
      #expect(TransactionTicket(Array(id[..<index])) == nil)
    }
  }

  @Test(arguments: [TransactionOptions.readWrite(), .readOnly()])
  func `a transaction of another database is unknown to every engine`(_ options: TransactionOptions) async throws {
    let engines = twoEngines()
    let other = "projects/p/databases/other"
    let write = Write.update(Document(name: other + "/documents/rooms/a", fields: [:]))
    _ = try await engines[0].commit(CommitRequest(database: other, writes: [write]), context: owner)
    let begin = BeginTransactionRequest(database: other, options: options)
    let id = try await engines[0].beginTransaction(begin, context: owner).transaction
    for engine in engines {
      let read = await failure { _ = try await engine.get("rooms/a", .transaction(id)) }
      let commit = await failure { try await engine.commit(update("rooms/a", [:]), in: id) }
      let rollback = await failure {
        try await engine.rollback(RollbackRequest(database: database, transaction: id), context: owner)
      }
      for refusal in [read, commit, rollback] { #expect(refusal == .unknownTransaction) }
    }
  }

  @Test func `of two transactions that meet in two engines one commits, and the other is aborted`()
    async throws
  {
    let engines = twoEngines()
    try await engines[0].commit(update("rooms/a", ["n": .integer(0)]))
    let ids = [try await engines[0].begin(), try await engines[1].begin()]
    for (engine, id) in zip(engines, ids) { _ = try await engine.get("rooms/a", .transaction(id)) }
    try await engines[0].commit(update("rooms/a", ["n": .integer(1)]), in: ids[0])
    let second = await failure { try await engines[1].commit(update("rooms/a", ["n": .integer(1)]), in: ids[1]) }
    #expect(second == .contention)
  }

  // MARK: Listening

  @Test(arguments: [false, true])
  func `a listener of one engine receives the writes of both in order`(isSilent: Bool) async throws {
    let engines = twoEngines(isSilent: isSilent)
    try await engines[0].commit(update("rooms/a", ["n": .integer(0)]))
    var follower = try await Follower(engines[1])
    follower.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await follower.current([2])
    for number in 1...40 {
      let commit = try await engines[number % 2].commit(
        update("rooms/a", ["n": .integer(Int64(number))]), update("rooms/\(number)", [:]))
      // The follower objects to read times that go back.
      if number % 4 == 0 { try await follower.snapshot(from: commit.commitTime) }
    }
    #expect(follower.targets[2]?[name("rooms/a")]?.fields["n"] == .integer(40))
    #expect(follower.targets[2]?.count == 41)
    #expect(follower.repetitions == 0)
  }

  @Test func `a resume token of one engine is good in the other`() async throws {
    let engines = twoEngines()
    for number in 0..<20 { try await engines[0].commit(update("rooms/\(number)", ["n": .integer(0)])) }
    var first = try await Follower(engines[0])
    first.add(Target(id: 2, .query(parent: root, .all("rooms"))))
    try await first.current([2])
    first.cancel()
    let commit = try await engines[0].commit(update("rooms/3", ["n": .integer(1)]), .delete(name("rooms/4")))
    var second = try await Follower(engines[1])
    second.adopt(2, from: first)
    second.add(Target(id: 2, .query(parent: root, .all("rooms")), resume: .token(first.token)))
    try await second.current([2])
    #expect(second.readTime >= commit.commitTime)
    #expect(second.messages == 2)
    #expect(second.targets[2]?.count == 19)
  }
}
