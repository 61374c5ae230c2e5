import Testing
import VestaFirestoreBackend
import VestaFirestoreModel

@testable import VestaFirestoreService

/// The states of a document between two versions, which listeners may wait for.
struct BetweenStateTests {
  @Test func `states in between are kept as far as there is room, and it is noted that there were more`() async throws {
    let engine = makeEngine()
    try await engine.commit(update("rooms/x", ["n": .integer(0)]))
    let base = try await engine.engine(database)
    let version = try await base.reading { $0.version }
    for number in 1...3 { try await engine.commit(update("rooms/x", ["n": .integer(Int64(number))])) }
    let cases: [(room: Int?, between: [Int64], hasMore: Bool)] = [
      (.max, [1, 2], false), (0, [], true), (nil, [], false),
    ]
    for (room, between, hasMore) in cases {
      try await base.reading { snapshot in
        let changes = try await WatchChange.all(after: version, .everything, in: snapshot, between: room)
        let change = try #require(changes.first)
        #expect(change.before?.fields["n"] == .integer(0) && change.after?.fields["n"] == .integer(3))
        #expect(change.between.map { $0.fields["n"] } == between.map { .integer($0) }, "\(String(describing: room))")
        #expect(change.hasMore == hasMore && changes.count == 1, "\(String(describing: room))")
      }
    }
  }
}
