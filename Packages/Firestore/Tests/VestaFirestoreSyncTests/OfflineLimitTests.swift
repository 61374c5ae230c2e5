import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInteropFakes
import VestaTesting

/// Queries with a limit that only a cache answers.
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
  func `others take the place of a result that an own write takes out or moves`(listensOnline: Bool) async throws {
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

  @Test(arguments: [LocalQuery.LimitType.first, .last])
  func `a query that is asked again offline has another result in the place of one that an own write moved`(
    type: LocalQuery.LimitType
  ) async throws {
    let client = world.client(store: ModelStore())
    try await client.write((0..<5).map { room($0, Int64($0)) }).acknowledged()
    // All rooms are in the cache, and so is what the query with a limit had.
    for query in [try query("rooms"), try rooms(2, type)] {
      let received = Received()
      let registration = client.listen(query, options: ListenOptions(includesMetadata: true)) { received.receive($0) }
      _ = try await received.first { !$0.isFromCache }
      registration.remove()
    }
    await client.setNetworkEnabled(false)
    _ = client.write([type == .first ? room(1, 100) : room(3, -1)])
    let expected = type == .first ? ["d0", "d2"] : ["d2", "d4"]
    #expect(try await client.cachedResults(try rooms(2, type)).ids == expected)
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

  @Test func `many writes that wait read the engine a few times`() async throws {
    let writer = world.client()
    try await writer.write((0..<40).map { room($0, Int64($0)) }).acknowledged()
    await writer.shutdown()
    let backend = CountingBackend(world.engine)
    var options = SyncOptions()
    options.link = .embedded
    let client = SyncClient(database: database, backend: backend, store: nil, options: options)
    await client.setNetworkEnabled(false)
    let received = Received()
    _ = client.listen(try rooms(2), options: ListenOptions()) { received.receive($0) }
    _ = try await received.first { $0.ids == ["d0", "d1"] }
    backend.count.withLock { $0 = 0 }
    backend.gate.close()
    for number in 0..<38 { _ = client.write([Mutation(path("rooms/d\(number)"), .delete)]) }
    backend.gate.open()
    _ = try await received.first { $0.ids == ["d38", "d39"] }
    #expect(received.snapshots.allSatisfy { $0.documents.count == 2 })
    #expect(backend.count.withLock { $0 } < 10)
    // The documents read for them are not used for later ones: another client has changed the results.
    let other = world.client()
    try await other.write([room(50, 0)]).acknowledged()
    await other.shutdown()
    _ = client.write([Mutation(path("rooms/d38"), .delete)])
    _ = try await received.first { $0.ids == ["d50", "d39"] }
    await client.shutdown()
  }

  /// An engine that counts its queries, which wait at a gate.
  private final class CountingBackend: ForwardingFirestoreBackend {
    let count = Locked(0)
    let gate = Gate(isOpen: true)
    private let engine: any FirestoreBackend

    init(_ engine: any FirestoreBackend) { self.engine = engine }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

    func runQuery(
      _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
    ) async throws {
      count.withLock { $0 += 1 }
      await gate.wait()
      try await engine.runQuery(request, context: context, receive: receive)
    }
  }
}
