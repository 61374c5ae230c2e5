import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

/// The engine in the process is the cache of an embedded client.
@Suite(.timeLimit(.minutes(15)))
struct EngineCacheTests {
  private let world = World()
  private let options = ListenOptions(includesMetadata: true)

  /// Rooms `a` to `d` with a number and a name each, written by another client.
  private func fill() async throws {
    let writer = world.client()
    let mutations = ["a", "b", "c", "d"].enumerated().map { number, id in
      set("rooms/\(id)", ["n": .integer(Int64(number)), "name": .string(id)])
    }
    try await writer.write(mutations).acknowledged()
    await writer.shutdown()
  }

  private func offline(isDurable: Bool = false) async -> SyncClient {
    let client = world.client(store: isDurable ? ModelStore() : nil, isEmbedded: true)
    await client.setNetworkEnabled(false)
    return client
  }

  private func patch(_ document: String, _ fields: MapValue, exists: Bool? = nil) -> Mutation {
    let mask = FieldMask(fields.map { FieldPath([$0.name]) })
    return Mutation(path(document), .patch(fields, mask: mask), precondition: exists.map { .exists($0) })
  }

  private func increment(_ document: String) -> Mutation {
    Mutation(
      path(document), .patch([:], mask: FieldMask([])), transforms: [.init(FieldPath(["n"]), .increment(.integer(1)))])
  }

  @Test(arguments: [false, true])
  func `a listener that is added offline begins with the engine's documents`(isDurable: Bool) async throws {
    try await fill()
    let client = await offline(isDurable: isDurable)
    let received = Received()
    let registration = client.listen(try query("rooms"), options: options) { received.receive($0) }
    _ = try await received.first { _ in true }
    #expect(received.snapshots.first?.ids == ["a", "b", "c", "d"])
    #expect(received.snapshots.first?.isFromCache == true)
    let other = world.client()
    try await other.write([Mutation(path("rooms/b"), .delete), set("rooms/e", [:])]).acknowledged()
    // Nothing of the backend is received offline.
    #expect(received.snapshots.last?.ids == ["a", "b", "c", "d"])
    await client.setNetworkEnabled(true)
    #expect(try await received.first { !$0.isFromCache }.ids == ["a", "c", "d", "e"])
    registration.remove()
    await client.shutdown()
    await other.shutdown()
  }

  @Test func `an offline listener has no result of before that matches no longer`() async throws {
    try await fill()
    let client = world.client(isEmbedded: true)
    let (first, second) = (Received(), Received())
    let registration = client.listen(try query("rooms"), options: options) { first.receive($0) }
    _ = try await first.first { !$0.isFromCache }
    await client.setNetworkEnabled(false)
    let other = world.client()
    try await other.write([Mutation(path("rooms/b"), .delete), patch("rooms/c", ["n": .integer(9)])]).acknowledged()
    let small = try query("rooms", [.field(path: "n", .lessThan, .integer(3))])
    let later = client.listen(small, options: options) { second.receive($0) }
    _ = try await second.first { _ in true }
    #expect(second.snapshots.map(\.ids) == [["a"]])
    registration.remove()
    later.remove()
    await client.shutdown()
    await other.shutdown()
  }

  @Test func `an offline listener of a document has it, and of a missing one nothing`() async throws {
    try await fill()
    let client = await offline()
    for (id, ids) in [("a", ["a"]), ("none", [])] {
      let received = Received()
      let query = try LocalQuery(database: database, path: path("rooms/\(id)"))
      let registration = client.listen(query, options: options) { received.receive($0) }
      _ = try await received.first { _ in true }
      #expect(received.snapshots.map(\.ids) == [ids])
      registration.remove()
    }
    await client.shutdown()
  }

  @Test func `offline results have pending writes on top and keep their limit`() async throws {
    try await fill()
    let client = await offline()
    try await client.write([Mutation(path("rooms/a"), .delete), patch("rooms/d", ["n": .integer(-1)])]).localCommit()
    let received = Received()
    let two = try LocalQuery(
      database: database, path: path("rooms"), orders: [NormalQuery.Order(FieldPath(["n"]), descending: false)],
      limit: 2)
    let registration = client.listen(two, options: options) { received.receive($0) }
    _ = try await received.first { _ in true }
    #expect(received.snapshots.first?.ids == ["d", "b"])
    #expect(received.snapshots.first?.documents.first?.fields?["name"] == .string("d"))
    registration.remove()
    await client.shutdown()
  }

  @Test func `an update of a document without listeners shows its other fields`() async throws {
    try await fill()
    let client = await offline()
    _ = client.write([patch("rooms/a", ["name": .string("hall")], exists: true), increment("rooms/b")])
    _ = client.write([increment("rooms/b"), patch("rooms/none", ["n": .integer(1)], exists: true)])
    #expect(try await client.cachedDocument(path("rooms/a")).fields == ["n": .integer(0), "name": .string("hall")])
    #expect(try await client.cachedDocument(path("rooms/b")).fields == ["n": .integer(3), "name": .string("b")])
    #expect(try await !client.cachedDocument(path("rooms/none")).isFound)
    await client.shutdown()
  }

  @Test func `updates that wait at a start show the fields that they leave alone`() async throws {
    try await fill()
    let store = ModelStore()
    var client = world.client(store: store, isEmbedded: true)
    await client.setNetworkEnabled(false)
    try await client.write([patch("rooms/a", ["name": .string("hall")], exists: true)]).localCommit()
    try await client.write([increment("rooms/b")]).localCommit()
    await client.shutdown()
    client = world.client(store: store, isEmbedded: true)
    await client.setNetworkEnabled(false)
    #expect(try await client.cachedDocument(path("rooms/a")).fields == ["n": .integer(0), "name": .string("hall")])
    #expect(try await client.cachedDocument(path("rooms/b")).fields == ["n": .integer(2), "name": .string("b")])
    await client.shutdown()
  }

  @Test func `a listener that only the cache answers has the engine's documents while the network is enabled`()
    async throws
  {
    try await fill()
    let client = world.client(isEmbedded: true)
    let received = Received()
    let registration = client.listen(try query("rooms"), options: ListenOptions(isCacheOnly: true)) {
      received.receive($0)
    }
    _ = try await received.first { _ in true }
    #expect(received.snapshots.map(\.ids) == [["a", "b", "c", "d"]])
    #expect(received.snapshots.first?.isFromCache == true)
    registration.remove()
    await client.shutdown()
  }

  @Test func `a listener that is removed before its documents are read is never called`() async throws {
    try await fill()
    let client = await offline()
    let received = Received()
    client.listen(try query("rooms"), options: options) { received.receive($0) }.remove()
    _ = client.write([set("rooms/e", [:])])
    #expect(try await client.cachedResults(query("rooms")).ids == ["a", "b", "c", "d", "e"])
    #expect(received.snapshots.isEmpty)
    await client.shutdown()
  }

  @Test func `an engine that cannot be read costs its documents and no listener or write`() async throws {
    let log = Log<String>()
    let backend = BrokenBackend()
    var settings = SyncOptions()
    settings.link = .embedded
    settings.log = { log.add($0) }
    let client = SyncClient(database: database, backend: backend, store: nil, options: settings)
    await client.setNetworkEnabled(false)
    let received = Received()
    let registration = client.listen(try query("rooms"), options: options) { received.receive($0) }
    let write = client.write([increment("rooms/a")])
    try await write.localCommit()
    #expect(try await received.first { !$0.documents.isEmpty }.ids == ["a"])
    #expect(log.entries.count == 2)
    registration.remove()
    await client.shutdown()
  }
}

/// One embedded client alone on its engine: whatever it does, it shows the engine's documents with its writes on top.
@Suite(.timeLimit(.minutes(15)))
struct EngineCachePropertyTests {
  private struct History {
    let world = World()
    let store = ModelStore()
    var client: SyncClient
    var model: [String: MapValue] = [:]
    var random: SplitMix
    var isOnline = true

    let tuning: SyncTuning

    init(seed: UInt64) {
      random = SplitMix(seed: seed)
      let tuning = SyncTuning.random(&random)
      self.tuning = tuning
      client = world.client(store: store, isEmbedded: true) { $0.tuning = tuning }
    }

    mutating func step(_ number: Int) async throws {
      switch random.below(12) {
      case 0:
        isOnline.toggle()
        await client.setNetworkEnabled(isOnline)
      case 1:
        await client.shutdown()
        client = world.client(store: store, isEmbedded: true) { [tuning] in $0.tuning = tuning }
        await client.setNetworkEnabled(isOnline)
      case 2..<7: write(Int64(number))
      case 7..<9: try await checkListener()
      case 9:
        let found = try await client.cachedResults(query("rooms"))
        #expect(text(of: found) == text(of: model))
      default:
        let id = "r\(random.below(6))"
        #expect(try await client.cachedDocument(path("rooms/\(id)")).fields == model[id])
      }
    }

    private mutating func write(_ number: Int64) {
      let id = "r\(random.below(6))"
      switch random.below(4) {
      case 0:
        model[id] = nil
        _ = client.write([Mutation(path("rooms/\(id)"), .delete)])
      case 1:
        model[id] = ["n": .integer(number)]
        _ = client.write([set("rooms/\(id)", ["n": .integer(number)])])
      case 2:
        model[id, default: [:]]["p"] = .integer(number)
        let patch = Mutation.Change.patch(["p": .integer(number)], mask: FieldMask([FieldPath(["p"])]))
        _ = client.write([Mutation(path("rooms/\(id)"), patch)])
      default:
        let old: Int64 = if case .integer(let value)? = model[id]?["n"] { value } else { 0 }
        model[id, default: [:]]["n"] = .integer(old + 1)
        let increment = Mutation.Transform(FieldPath(["n"]), .increment(.integer(1)))
        _ = client.write([
          Mutation(path("rooms/\(id)"), .patch([:], mask: FieldMask([])), transforms: [increment])
        ])
      }
    }

    private func checkListener() async throws {
      let received = Received()
      let options = ListenOptions(includesMetadata: true)
      let registration = client.listen(try query("rooms"), options: options) { received.receive($0) }
      let expected = text(of: model)
      if isOnline {
        let shown = try await received.first { !$0.isFromCache && !$0.hasPendingWrites }
        #expect(text(of: shown) == expected)
      } else {
        _ = try await received.first { _ in true }
        #expect(received.snapshots.first.map { text(of: $0) } == expected)
      }
      registration.remove()
    }

    private func text(of snapshot: ViewSnapshot) -> [String] {
      snapshot.documents.map { "\($0.path.lastSegment) \(CanonicalForm.text(of: .map($0.fields ?? [:])))" }
    }

    private func text(of model: [String: MapValue]) -> [String] {
      model.sorted { $0.key < $1.key }.map { "\($0.key) \(CanonicalForm.text(of: .map($0.value)))" }
    }
  }

  @Test(arguments: 1...12) func `an embedded client shows the engine with its writes on top`(seed: UInt64) async throws
  {
    var history = History(seed: seed)
    for number in 0..<120 { try await history.step(number) }
    await history.client.setNetworkEnabled(true)
    try await history.client.waitForPendingWrites()
    for (id, fields) in history.model {
      #expect(try await history.client.lookup([path("rooms/\(id)")])[0].fields == fields, "seed \(seed)")
    }
    await history.client.shutdown()
  }
}
