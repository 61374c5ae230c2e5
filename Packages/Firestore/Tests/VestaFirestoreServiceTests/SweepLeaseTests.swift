import Testing
import VestaFirestoreBackend
import VestaStoreInterop
import VestaTesting

@testable import VestaFirestoreService

/// The deletion of a dropped index's entries where another engine on the store has begun it.
struct SweepLeaseTests {
  private func ordered(_ field: String) -> StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "rooms")], orderBy: [.init(fieldPath: field)])
  }

  @Test func `what an engine that was killed had begun to delete is deleted when its lease has ended`() async throws {
    let clock = ManualClock()
    let engine = makeEngine(clock)
    let writes = (0..<10).map { update("rooms/\($0)", ["n": .integer(Int64($0)), "m": .null]) }
    _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    for field in ["n", "m"] { _ = try await engine.query(ordered(field)) }
    let base = try await engine.engine(database)
    await base.indexes.settle()
    func entries() async throws -> Int {
      try await base.store.read { try await $0.entries(in: KeyRange(prefix: base.keys.entries)) }.count
    }
    #expect(try await entries() == 20)
    clock.advance(seconds: 8 * 86_400)
    let lease = StoreLease(key: base.keys.lease(.sweeping), owner: 7)
    try await base.store.write { try await lease.keep(in: $0) }
    _ = try await engine.query(ordered("n"))
    await base.indexes.settle()
    #expect(try await entries() == 20)
    clock.advance(seconds: 61)
    await base.indexes.settle()
    #expect(try await entries() == 10)
  }
}
