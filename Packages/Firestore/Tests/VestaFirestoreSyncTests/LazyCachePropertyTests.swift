import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// A cache that is read in parts, indexed, written and restarted, against a model that is whole.
@Suite(.timeLimit(.minutes(15)))
struct LazyCachePropertyTests {
  private struct Items {
    let world = World()
    let store = WatchedStore()
    var client: SyncClient
    var model: [String: MapValue] = [:]
    var random: SplitMix
    let tuning: SyncTuning

    init(seed: UInt64) {
      random = SplitMix(seed: seed)
      let tuning = SyncTuning.random(&random)
      self.tuning = tuning
      client = world.client(store: store) { $0.tuning = tuning }
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
      let isOrdered = random.oneIn(2)
      let isGroup = random.oneIn(5)
      let limit = random.oneIn(2) ? 1 + random.below(6) : nil
      return try LocalQuery(
        database: database, path: isGroup ? ResourcePath([]) : path("items"),
        collectionGroup: isGroup ? "items" : nil,
        filters: Array(filters.shuffled(using: &random).prefix(random.below(3))),
        orders: isOrdered ? [NormalQuery.Order(FieldPath(["a"]), descending: random.oneIn(2))] : [],
        limit: limit, limitType: limit != nil && isOrdered && random.oneIn(2) ? .last : .first)
    }

    /// Follows a query over the cache alone, from its first snapshot through changes of its results.
    private mutating func follow() async throws {
      let (query, received) = (try randomQuery(), Received())
      let options = ListenOptions(includesMetadata: true, isCacheOnly: true)
      let registration = client.listen(query, options: options) { received.receive($0) }
      for _ in 0..<4 {
        let shown = expected(query)
        _ = try await received.first { $0.ids == shown }
        let id = shown.first ?? "i0"
        model[id] = nil
        _ = client.write([Mutation(path("items/\(id)"), .delete)])
      }
      registration.remove()
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
      switch random.below(11) {
      case 10: try await follow()
      case 0:
        await client.shutdown()
        client = world.client(store: store) { [tuning] in $0.tuning = tuning }
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
      let found = try await client.cachedResults(query)
      #expect(found.ids == expected(query), "\(query.canonicalID)")
    }

    private func expected(_ query: LocalQuery) -> [String] {
      let all = model.map { id, fields in
        CachedDocument(ResourceName(database: database, path: path("items/\(id)")), .found(fields))
      }
      let sorted = all.filter { query.matches($0) }.sorted { query.compare($0, $1) < 0 }.map(\.path.lastSegment)
      guard let limit = query.limit else { return sorted }
      return query.limitType == .first ? Array(sorted.prefix(limit)) : sorted.suffix(limit)
    }
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>) func `a cache that is read in parts answers as a whole one`(
    seed: UInt64
  ) async throws {
    var items = Items(seed: seed)
    try await items.fill(1_100)
    for _ in 0..<60 { try await items.step() }
    await items.client.shutdown()
  }
}
