import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreService

/// Deletions on a full disk, by which room is made.
@Suite struct FullDiskTests {
  private func rooms(_ engine: FirestoreEngine) async throws -> [String] {
    var query = StructuredQuery.all("rooms")
    query.filter = .field(path: "b", .equal, .integer(1))
    query.orderBy = [.init(fieldPath: "c")]
    return try await engine.query(query).map { String($0.name.dropFirst(root.count + "/rooms/".count)) }
  }

  private func fields(_ number: Int) -> MapValue { ["b": .integer(1), "c": .integer(Int64(number))] }

  @Test func `documents are deleted on a full disk, and writing continues when there is room`() async throws {
    let store = SmallDiskStore()
    let engine = makeEngine(on: store)
    for number in 0..<20 { try await engine.commit(update("rooms/\(number)", fields(number))) }
    #expect(try await rooms(engine).count == 20)
    try await engine.engine(database).indexes.settle()
    store.isFull = true
    let refused = await #expect(throws: FirestoreServiceError.self) {
      try await engine.commit(update("rooms/new", fields(0)))
    }
    #expect(refused?.code == .resourceExhausted)
    for number in 0..<10 { try await engine.commit(.delete(name("rooms/\(number)"))) }
    try await engine.commit(.delete(name("rooms/10")), .delete(name("rooms/11")))
    let mixed = await #expect(throws: FirestoreServiceError.self) {
      try await engine.commit(.delete(name("rooms/12")), update("rooms/13", fields(0)))
    }
    #expect(mixed?.code == .resourceExhausted)
    #expect(try await rooms(engine) == (12..<20).map { "\($0)" })
    store.isFull = false
    try await engine.commit(update("rooms/new", fields(20)))
    #expect(try await rooms(engine) == (12..<20).map { "\($0)" } + ["new"])
    try await engine.close()
  }

  @Test func `the log is pruned on a full disk`() async throws {
    let clock = ManualClock()
    let store = SmallDiskStore(clock: clock.ofStore)
    let engine = makeEngine(on: store) { $0.clock = clock.service }
    let base = try await engine.engine(database)
    for number in 0..<100 { try await engine.commit(update("rooms/\(number % 7)", fields(number))) }
    await base.pruner.settle()
    await base.sorter?.settle()
    clock.advance(by: .seconds(2 * 3_600))
    store.isFull = true
    try await engine.commit(.delete(name("rooms/0")))
    await base.pruner.settle()
    #expect(try await store.read { try await $0.entries(in: base.keys.log(after: 0)) }.count == 1)
    try await engine.close()
  }
}
