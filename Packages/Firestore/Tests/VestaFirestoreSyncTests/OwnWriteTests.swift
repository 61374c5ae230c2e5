import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// A client's reads show its own writes, whenever they are committed and answered.
@Suite(.timeLimit(.minutes(15)))
struct OwnWriteTests {
  /// A write that a read must show.
  enum Kind: CaseIterable {
    case creation, change, deletion
  }

  /// A way of reading.
  enum Way: CaseIterable {
    case document, query, limitedQuery, cachedDocument, cachedQuery, first
  }

  private let world = World()
  private let backend: InterleavingBackend
  private let client: SyncClient

  init() async throws {
    backend = InterleavingBackend(world.engine)
    var options = SyncOptions()
    options.link = .embedded
    // A read that waits counts as offline after a while, and a busy machine may take longer.
    options.tuning.onlineSeconds = 3_600
    client = SyncClient(database: database, backend: backend, store: nil, options: options)
  }

  /// Begins a write that is committed and answered after the next look at the engine; returns what reads must show.
  private func begin(_ kind: Kind) async throws -> Int64? {
    if kind != .creation { try await client.write([set("rooms/a", ["n": .integer(1)])]).acknowledged() }
    backend.answers.close()
    let write: SyncWrite
    switch kind {
    case .creation, .change: write = client.write([set("rooms/a", ["n": .integer(2)])])
    case .deletion: write = client.write([Mutation(path("rooms/a"), .delete)])
    }
    backend.afterNextRead { [backend] in
      backend.answers.open()
      try? await write.acknowledged()
    }
    return kind == .deletion ? nil : 2
  }

  private func number(_ document: CachedDocument?) -> Int64? {
    if case .integer(let number)? = document?.fields?["n"] { number } else { nil }
  }

  private func read(_ way: Way) async throws -> Int64? {
    let rooms = try query("rooms", limit: way == .limitedQuery ? 1 : nil)
    switch way {
    case .document: return number(try await client.freshDocument(path("rooms/a")))
    case .query, .limitedQuery: return number(try await client.freshResults(rooms)?.documents.first)
    case .cachedDocument: return number(try await client.cachedDocument(path("rooms/a")))
    case .cachedQuery: return number(try await client.cachedResults(rooms).documents.first)
    case .first:
      let received = Received()
      let options = ListenOptions(includesMetadata: true)
      let registration = client.listen(rooms, options: options) { received.receive($0) }
      let complete = try await received.first { !$0.isFromCache }
      registration.remove()
      // Nor does any snapshot before show the state before the write.
      #expect(Set(received.snapshots.map { number($0.documents.first) }).count == 1)
      return number(complete.documents.first)
    }
  }

  @Test(arguments: Kind.allCases, Way.allCases)
  func `a read shows a write that is committed and answered after the look at the engine`(
    kind: Kind, way: Way
  ) async throws {
    // The stream of the first listener is open before, so that the engine is read at once.
    let received = Received()
    let registration = client.listen(try query("lobby"), options: ListenOptions()) { received.receive($0) }
    _ = try await received.first { !$0.isFromCache }
    let expected = try await begin(kind)
    let shown = try await read(way)
    #expect(shown == expected)
    // Where the engine was not looked at, the write still waits for its answer, and the client for the write.
    backend.answers.open()
    registration.remove()
    await client.shutdown()
  }

  @Test(arguments: [Way.document, .query, .limitedQuery, .cachedDocument, .cachedQuery])
  func `a read that sees a write answered shows what others have written since`(way: Way) async throws {
    try await client.write([set("rooms/a", ["n": .integer(1)])]).acknowledged()
    backend.results.close()
    let transform = Mutation.Transform(FieldPath(["n"]), .increment(.integer(1)))
    let write = client.write([Mutation(path("rooms/a"), .patch([:], mask: FieldMask([])), transforms: [transform])])
    let other = world.client()
    while number(try await other.lookup([path("rooms/a")]).first) != 2 { await Task.yield() }
    try await other.write([set("rooms/a", ["n": .integer(20)])]).acknowledged()
    await other.shutdown()
    backend.afterNextRead { [backend] in
      backend.results.open()
      try? await write.acknowledged()
    }
    // The write is in what the engine has: shown on top of it again, it would hide the later one.
    #expect(try await read(way) == 20)
    await client.shutdown()
  }

  @Test func `a read that is disturbed at each attempt ends, with the writes of before`() async throws {
    let disturbances = Locked(0)
    let client = client
    _ = client.write([set("rooms/a", ["n": .integer(0)])])
    @Sendable func disturb() {
      backend.afterNextRead {
        let number = disturbances.withLock { count in
          count += 1
          return Int64(count)
        }
        // The pending write is answered, and another one is pending.
        try? await client.waitForPendingWrites()
        backend.answers.close()
        _ = client.write([set("rooms/a", ["n": .integer(number)])])
        disturb()
        backend.answers.open()
      }
    }
    disturb()
    let shown = try #require(number(try await client.cachedDocument(path("rooms/a"))))
    #expect(shown >= Int64(disturbances.withLock { $0 } - 2))
    try await client.waitForPendingWrites()
    await client.shutdown()
  }

  @Test func `reads never miss concurrent writes without a waiter`() async throws {
    let rooms = try query("rooms")
    for round in 0..<150 {
      let name = "rooms/d\(round)"
      _ = client.write([set(name, ["n": .integer(1)])])
      for _ in 0..<4 { #expect(try await client.freshDocument(path(name))?.isFound == true) }
      #expect(try await client.freshResults(rooms)?.documents[path(name)] != nil)
      let mask = FieldMask([FieldPath(["n"])])
      _ = client.write([Mutation(path(name), .patch(["n": .integer(2)], mask: mask), precondition: .exists(true))])
      for _ in 0..<4 { #expect(number(try await client.freshDocument(path(name))) == 2) }
      _ = client.write([Mutation(path(name), .delete)])
      for _ in 0..<4 { #expect(try await client.cachedDocument(path(name)).isFound == false) }
    }
    await client.shutdown()
  }
}
