import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaTesting

@testable import VestaFirestoreService

/// Transactions that hold documents, and concurrent writes.
@Suite struct LockingTests {
  @Test func `two transactions read one document at once`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let (first, second) = (try await engine.begin(), try await engine.begin())
    #expect(try await engine.get("rooms/a", .transaction(first)) != nil)
    #expect(try await engine.get("rooms/a", .transaction(second)) != nil)
    try await engine.commit(update("rooms/b", [:]), in: first)
    try await engine.commit(update("rooms/a", ["n": .integer(2)]), in: second)
  }

  @Test func `a write during a transaction waits for it, and the transaction wins`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engine.begin()
    _ = try await engine.get("rooms/a", .transaction(id))
    let pool = try await engine.engine(database).transactions
    let write = Task { try await engine.commit(update("rooms/a", ["n": .integer(9)])).commitTime }
    while pool.waitingCount == 0 { await Task.yield() }
    // Others are not held up.
    try await engine.commit(update("rooms/b", [:]))
    let time = try await engine.commit(update("rooms/a", ["n": .integer(2)]), in: id).commitTime
    #expect(try await write.value > time)
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(9))
    #expect(pool.waitingCount == 0 && pool.openCount == 0)
  }

  @Test func `a write waits for a bounded time only`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    try await engine.commit(update("rooms/a", ["n": .integer(1)]))
    let id = try await engine.begin()
    _ = try await engine.get("rooms/a", .transaction(id))
    let pool = try await engine.engine(database).transactions
    let write = Task { await failure { try await engine.commit(update("rooms/a", [:])) } }
    while pool.waitingCount == 0 { await Task.yield() }
    clock.advance(seconds: 16)
    // Any call notices whose time is over.
    _ = try await engine.get("rooms/a", .transaction(id))
    #expect(await write.value?.code == .aborted)
    try await engine.commit(update("rooms/a", ["n": .integer(2)]), in: id)
  }

  @Test func `a write that would close a cycle continues, and the transaction begins again`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", [:]), update("rooms/b", [:]))
    let id = try await engine.begin()
    _ = try await engine.get("rooms/b", .transaction(id))
    let pool = try await engine.engine(database).transactions
    let write = Task { try await engine.commit(update("rooms/a", ["n": .null]), update("rooms/b", ["n": .null])) }
    while pool.waitingCount == 0 { await Task.yield() }
    let read = Task { await failure { _ = try await engine.get("rooms/a", .transaction(id)) } }
    let refusal = await read.value
    #expect(refusal?.code == .aborted)
    _ = try await write.value
  }

  @Test func `increments in transactions succeed among plain increments`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/a", ["n": .integer(0)]))
    let plain = Task {
      for _ in 0..<200 {
        try await engine.commit(
          .update(
            Document(name: name("rooms/a")), mask: DocumentMask(fieldPaths: []),
            transforms: [FieldTransform(fieldPath: "n", .increment(.integer(1)))]))
      }
    }
    var attempts = 0
    for _ in 0..<40 {
      while true {
        attempts += 1
        let id = try await engine.begin()
        let before = try await engine.get("rooms/a", .transaction(id))?.fields["n"]
        guard case .integer(let number)? = before else { break }
        for _ in 0..<5 { await Task.yield() }
        if await failure({ try await engine.commit(update("rooms/a", ["n": .integer(number + 1)]), in: id) }) == nil {
          break
        }
      }
    }
    try await plain.value
    #expect(try await engine.get("rooms/a")?.fields["n"] == .integer(240))
    // A lock that is taken between a look at the table and a commit is rare.
    #expect(attempts < 60)
  }
}
