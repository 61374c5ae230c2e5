import Testing
import VestaFirestoreBackend
import VestaFirestoreService
import VestaTesting

struct TransactionTests {
  @Test func `an optimistic commit fails when what it read has changed`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engine.begin(.readWrite(concurrency: .optimistic))
    _ = try await engine.get("rooms/a", .transaction(id))
    try await engine.commit(update("rooms/a", ["n": .integer(2)]))
    let error = await failure { try await engine.commit(update("rooms/b", [:]), in: id) }
    #expect(error?.code == .aborted)
    #expect(error?.message == "Too much contention on these documents. Please try again.")
    #expect(try await engine.get("rooms/b") == nil)
  }

  @Test func `an absence that was read counts`() async throws {
    let engine = makeEngine()
    let id = try await engine.begin(.readWrite(concurrency: .optimistic))
    _ = try await engine.get("rooms/a", .transaction(id))
    try await engine.commit(update("rooms/a", [:]))
    #expect(await failure { try await engine.commit(update("rooms/b", [:]), in: id) }?.code == .aborted)
  }

  @Test func `a phantom in a query counts`() async throws {
    let engine = makeEngine()
    var query = StructuredQuery.all("rooms")
    query.filter = .field(path: "n", .greaterThan, .integer(5))
    for (value, isPhantom) in [(Int64(9), true), (3, false)] {
      let id = try await engine.begin(.readWrite(concurrency: .optimistic))
      _ = try await engine.query(query, .transaction(id))
      try await engine.commit(update("rooms/\(value)", ["n": .integer(value)]))
      let error = await failure { try await engine.commit(update("other/b", [:]), in: id) }
      #expect((error?.code == .aborted) == isPhantom)
    }
  }

  @Test func `a transaction that reads stays at its version`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]), update("rooms/b", ["n": .integer(2)]))
    let id = try await engine.begin(.readOnly())
    #expect(try await engine.get("rooms/a", .transaction(id))?.fields["n"] == .integer(1))
    try await engine.commit(update("rooms/a", ["n": .integer(7)]), .delete(name("rooms/b")), update("rooms/c", [:]))
    #expect(try await engine.get("rooms/a", .transaction(id))?.fields["n"] == .integer(1))
    #expect(try await engine.query(.all("rooms"), .transaction(id)).map(\.name) == [name("rooms/a"), name("rooms/b")])
    let error = await failure { try await engine.commit(update("rooms/d", [:]), in: id) }
    #expect(error?.code == .invalidArgument)
  }

  @Test func `a read time beyond the retention is refused`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let old = try await engine.commit(update("rooms/a", ["n": .integer(1)])).commitTime
    clock.advance(seconds: 5000)
    try await engine.commit(update("rooms/a", ["n": .integer(2)]))
    let error = await failure { _ = try await engine.get("rooms/a", .readTime(old)) }
    #expect(error?.code == .failedPrecondition)
    let future = Timestamp(microseconds: clock.now + 1_000_000)
    #expect(await failure { _ = try await engine.get("rooms/a", .readTime(future)) }?.code == .invalidArgument)
  }

  @Test func `an idle transaction expires`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let id = try await engine.begin()
    clock.advance(seconds: 59)
    _ = try await engine.get("rooms/a", .transaction(id))
    clock.advance(seconds: 61)
    let error = await failure { try await engine.commit(update("rooms/a", [:]), in: id) }
    #expect(error?.message == "The referenced transaction has expired or is no longer valid.")
    #expect(error?.code == .invalidArgument)
  }

  @Test func `a transaction ends after its lifetime though it is used`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let id = try await engine.begin(.readWrite(concurrency: .optimistic))
    for _ in 0..<5 {
      clock.advance(seconds: 50)
      _ = try await engine.get("rooms/a", .transaction(id))
    }
    clock.advance(seconds: 21)
    #expect(await failure { _ = try await engine.get("rooms/a", .transaction(id)) }?.code == .invalidArgument)
  }

  @Test func `rollback of an unknown transaction is refused and of an ended one is not`() async throws {
    let engine = makeEngine()
    let id = try await engine.begin()
    try await engine.rollback(RollbackRequest(database: database, transaction: id), context: owner)
    try await engine.rollback(RollbackRequest(database: database, transaction: id), context: owner)
    let unknown = await failure {
      try await engine.rollback(RollbackRequest(database: database, transaction: [1]), context: owner)
    }
    #expect(unknown?.code == .invalidArgument)
  }

  @Test func `a cycle of locks ends one of its transactions`() async throws {
    let engine = makeEngine()
    let first = try await engine.begin()
    let second = try await engine.begin()
    _ = try await engine.get("rooms/a", .transaction(first))
    _ = try await engine.get("rooms/b", .transaction(second))
    // Each waits for what the other has read; one of them has to begin again.
    async let one = failure { try await engine.commit(update("rooms/b", [:]), in: first) }
    async let two = failure { try await engine.commit(update("rooms/a", [:]), in: second) }
    let errors = await [one, two].compactMap(\.self)
    #expect(errors.allSatisfy { $0.code == .aborted } && errors.count <= 1)
  }
}
