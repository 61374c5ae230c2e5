import Testing
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// Listeners with a limit that only the cache of an embedded client answers.
@Suite(.timeLimit(.minutes(15)))
struct OfflineLimitTests {
  private let world = World()

  private func rooms(_ limit: Int, _ type: LocalQuery.LimitType = .first) throws -> LocalQuery {
    try LocalQuery(
      database: database, path: path("rooms"), orders: [NormalQuery.Order(FieldPath(["n"]), descending: false)],
      limit: limit, limitType: type)
  }

  private func room(_ number: Int, _ value: Int64) -> Mutation { set("rooms/d\(number)", ["n": .integer(value)]) }

  /// A client that is offline, with rooms 0 to 4 in the engine; listens first where that is wanted.
  private func offline(_ query: LocalQuery, _ received: Received, listensOnline: Bool) async throws -> SyncClient {
    let writer = world.client()
    try await writer.write((0..<5).map { room($0, Int64($0)) }).acknowledged()
    await writer.shutdown()
    let client = world.client(isEmbedded: true)
    func listen() { _ = client.listen(query, options: ListenOptions()) { received.receive($0) } }
    if listensOnline {
      listen()
      _ = try await received.first { !$0.isFromCache }
    }
    await client.setNetworkEnabled(false)
    if !listensOnline { listen() }
    _ = try await received.first { _ in true }
    return client
  }

  @Test(arguments: [true, false])
  func `others come in for a result that an own write takes out or moves`(listensOnline: Bool) async throws {
    let received = Received()
    let client = try await offline(try rooms(2), received, listensOnline: listensOnline)
    #expect(received.snapshots.last?.ids == ["d0", "d1"])
    _ = client.write([Mutation(path("rooms/d0"), .delete)])
    _ = try await received.first { $0.ids == ["d1", "d2"] }
    _ = client.write([room(1, 100)])
    _ = try await received.first { $0.ids == ["d2", "d3"] }
    _ = client.write([Mutation(path("rooms/d2"), .delete), Mutation(path("rooms/d3"), .delete)])
    _ = try await received.first { $0.ids == ["d4", "d1"] }
    // Never short, and no result twice.
    #expect(received.snapshots.allSatisfy { $0.documents.count == 2 })
    await client.shutdown()
  }

  @Test func `a limit to the last results is filled up as well`() async throws {
    let received = Received()
    let client = try await offline(try rooms(2, .last), received, listensOnline: true)
    _ = client.write([Mutation(path("rooms/d4"), .delete)])
    _ = try await received.first { $0.ids == ["d2", "d3"] }
    _ = client.write([room(3, -1)])
    _ = try await received.first { $0.ids == ["d1", "d2"] }
    await client.shutdown()
  }

  @Test(arguments: 1...6) func `a limited listener agrees with a read of the cache`(seed: UInt64) async throws {
    var random = SplitMix(seed: seed)
    let limit = 1 + random.below(3)
    let received = Received()
    let query = try rooms(limit, random.below(2) == 0 ? .first : .last)
    let client = try await offline(query, received, listensOnline: random.below(2) == 0)
    for _ in 0..<60 {
      let number = random.below(7)
      if random.below(3) == 0 {
        _ = client.write([Mutation(path("rooms/d\(number)"), .delete)])
      } else {
        _ = client.write([room(number, Int64(random.below(9)))])
      }
      let expected = try await client.cachedResults(query).ids
      #expect(received.snapshots.last?.ids == expected, "seed \(seed)")
    }
    await client.shutdown()
  }
}
