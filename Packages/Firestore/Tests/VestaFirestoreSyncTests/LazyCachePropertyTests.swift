import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// A cache that is read in parts, indexed, written and restarted, beside a model that is whole.
@Suite(.timeLimit(.minutes(15)))
struct LazyCachePropertyTests {
  private struct Items {
    let world = World()
    let store = WatchedStore()
    var client: SyncClient
    var model: [String: MapValue] = [:]
    var random: SplitMix

    init(seed: UInt64) {
      random = SplitMix(seed: seed)
      client = world.client(store: store)
    }

    private mutating func randomFields() -> MapValue {
      var fields: MapValue = ["a": .integer(Int64(random.below(200))), "b": .integer(Int64(random.below(5)))]
      if random.oneIn(5) { fields["a"] = nil }
      fields["t"] = .array([.integer(Int64(random.below(50))), .integer(Int64(random.below(50)))])
      return fields
    }

    private mutating func randomQuery() throws -> LocalQuery {
      let value = Value.integer(Int64(random.below(200)))
      let filters: [Filter] = [
        .field(path: "a", .equal, value), .field(path: "a", .greaterThan, .integer(Int64(190 + random.below(10)))),
        .field(path: "t", .arrayContains, .integer(Int64(random.below(50)))),
        .field(path: "b", .equal, .integer(Int64(random.below(5)))),
        .composite(.or, [.field(path: "a", .equal, value), .field(path: "a", .equal, .integer(3))]),
      ]
      let isOrdered = random.oneIn(3)
      return try LocalQuery(
        database: database, path: path("items"),
        filters: Array(filters.shuffled(using: &random).prefix(1 + random.below(2))),
        orders: isOrdered ? [NormalQuery.Order(FieldPath(["a"]), descending: random.oneIn(2))] : [],
        limit: random.oneIn(3) ? 1 + random.below(6) : nil)
    }

    mutating func fill(_ count: Int) async throws {
      var mutations: [Mutation] = []
      for number in 0..<count {
        let fields = randomFields()
        model["i\(number)"] = fields
        mutations.append(set("items/i\(number)", fields))
      }
      let writer = world.client()
      for start in stride(from: 0, to: count, by: 300) {
        try await writer.write(Array(mutations[start..<min(count, start + 300)])).acknowledged()
      }
      await writer.shutdown()
      let received = Received()
      let options = ListenOptions(includesMetadata: true)
      let registration = client.listen(try query("items"), options: options) { received.receive($0) }
      _ = try await received.first { !$0.isFromCache && $0.documents.count == count }
      registration.remove()
      await client.setNetworkEnabled(false)
    }

    mutating func step() async throws {
      switch random.below(10) {
      case 0:
        await client.shutdown()
        client = world.client(store: store)
        await client.setNetworkEnabled(false)
      case 1:
        await client.setNetworkEnabled(true)
        try await client.waitForPendingWrites()
        await client.setNetworkEnabled(false)
      case 2..<5:
        let id = "i\(random.below(1_200))"
        if random.oneIn(4) {
          model[id] = nil
          try await client.write([Mutation(path("items/\(id)"), .delete)]).localCommit()
        } else {
          let fields = randomFields()
          model[id] = fields
          try await client.write([set("items/\(id)", fields)]).localCommit()
        }
      default:
        let query = try randomQuery()
        try await check(query)
      }
    }

    private func check(_ query: LocalQuery) async throws {
      let all = model.map { id, fields in
        CachedDocument(ResourceName(database: database, path: path("items/\(id)")), .found(fields))
      }
      let expected = all.filter { query.matches($0) }.sorted { query.compare($0, $1) < 0 }.map(\.path.lastSegment)
      let found = try await client.cachedResults(query)
      #expect(found.ids == Array(expected.prefix(query.limit ?? .max)), "\(query.canonicalID)")
    }
  }

  @Test(arguments: [1, 2] as [UInt64]) func `a cache that is read in parts answers as a whole one`(
    seed: UInt64
  ) async throws {
    var items = Items(seed: seed)
    try await items.fill(1_100)
    for _ in 0..<60 { try await items.step() }
    await items.client.shutdown()
  }
}
