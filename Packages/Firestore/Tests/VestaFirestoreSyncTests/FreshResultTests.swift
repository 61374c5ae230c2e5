import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreBackendContracts
import VestaFirestoreModel
import VestaFirestoreSync
import VestaTesting

/// The results that an embedded client reads from its engine, with unanswered writes on top.
@Suite(.timeLimit(.minutes(15)))
struct FreshResultTests {
  private typealias Room = (a: Int64?, b: Int64)

  /// A query over the fields `a` and `b`, with its results by the documentation.
  private struct Asked {
    var least: Int64?
    var either: (a: Int64, b: Int64)?
    var order: (field: String, isDescending: Bool)?
    var start: (value: Int64, isInclusive: Bool)?
    var end: (value: Int64, isInclusive: Bool)?
    var limit: (count: Int, isLast: Bool)?

    init(_ random: inout SplitMix) {
      if random.oneIn(3) { least = Int64(random.below(5)) }
      if random.oneIn(3) { either = (Int64(random.below(5)), Int64(random.below(3))) }
      // A condition on a range orders by its field.
      if random.oneIn(2) { order = (least == nil ? random.pick(["a", "b"]) : "a", random.oneIn(2)) }
      if order != nil, random.oneIn(3) { start = (Int64(random.below(5)), random.oneIn(2)) }
      if order != nil, random.oneIn(3) { end = (Int64(random.below(5)), random.oneIn(2)) }
      if random.oneIn(2) { limit = (1 + random.below(6), random.oneIn(2)) }
    }

    func query() throws -> LocalQuery {
      var filters: [Filter] = []
      if let least { filters.append(.field(path: "a", .greaterThanOrEqual, .integer(least))) }
      if let either {
        filters.append(
          .composite(
            .or, [.field(path: "a", .equal, .integer(either.a)), .field(path: "b", .equal, .integer(either.b))]))
      }
      return try LocalQuery(
        database: database, path: path("rooms"), filters: filters,
        orders: order.map { [NormalQuery.Order(FieldPath([$0.field]), descending: $0.isDescending)] } ?? [],
        limit: limit?.count, limitType: limit?.isLast == true ? .last : .first,
        startAt: start.map { StructuredQuery.Cursor(values: [.integer($0.value)], before: $0.isInclusive) },
        endAt: end.map { StructuredQuery.Cursor(values: [.integer($0.value)], before: !$0.isInclusive) })
    }

    func results(_ rooms: [String: Room]) -> [String] {
      let field = order?.field ?? (least == nil ? "" : "a")
      let isDescending = order?.isDescending ?? false
      func key(_ room: Room) -> Int64? { field == "a" ? room.a : field == "b" ? room.b : 0 }
      var found = rooms.compactMap { id, room -> (key: Int64, id: String)? in
        if let least, room.a ?? .min < least { return nil }
        if let either, room.a != either.a, room.b != either.b { return nil }
        return key(room).map { ($0, id) }
      }
      found.sort { ($0.key, $0.id) < ($1.key, $1.id) }
      if isDescending { found.reverse() }
      func distance(_ key: Int64, _ bound: Int64) -> Int64 { isDescending ? bound - key : key - bound }
      found = found.filter { item in
        if let start, distance(item.key, start.value) < (start.isInclusive ? 0 : 1) { return false }
        if let end, distance(item.key, end.value) > (end.isInclusive ? 0 : -1) { return false }
        return true
      }
      let ids = found.map(\.id)
      guard let limit else { return ids }
      return Array(limit.isLast ? ids.suffix(limit.count) : ids.prefix(limit.count))
    }
  }

  private func fields(_ room: Room) -> MapValue {
    var fields: MapValue = ["b": .integer(room.b)]
    if let number = room.a { fields["a"] = .integer(number) }
    return fields
  }

  private func room(_ random: inout SplitMix) -> Room {
    (random.oneIn(6) ? nil : Int64(random.below(6)), Int64(random.below(4)))
  }

  /// A change of a room that is there or not, and its write.
  private func change(_ rooms: inout [String: Room], _ random: inout SplitMix) -> Mutation {
    let id = "r\(10 + random.below(24))"
    switch random.below(4) {
    case 0:
      rooms[id] = nil
      return Mutation(path("rooms/\(id)"), .delete)
    case 1 where rooms[id] != nil:
      let number = Int64(random.below(6))
      rooms[id]?.a = number
      return Mutation(
        path("rooms/\(id)"), .patch(["a": .integer(number)], mask: FieldMask([FieldPath(["a"])])),
        precondition: .exists(true))
    default:
      let new = room(&random)
      rooms[id] = new
      return set("rooms/\(id)", fields(new))
    }
  }

  @Test(arguments: UInt64(1)...4) func `results with unanswered writes are those of the documents in memory`(
    seed: UInt64
  ) async throws {
    var random = SplitMix(seed: seed)
    let world = World()
    let backend = InterleavingBackend(world.engine)
    var options = SyncOptions()
    options.link = .embedded
    options.tuning.onlineSeconds = 3_600
    let client = SyncClient(database: database, backend: backend, store: nil, options: options)
    var rooms: [String: Room] = [:]
    for round in 0..<2 {
      // The first changes are answered, and the later ones wait.
      for _ in 0..<20 { try await client.write([change(&rooms, &random)]).acknowledged() }
      backend.answers.close()
      var waiting: Set<String> = []
      for count in 0..<6 {
        for _ in 0..<count {
          let mutation = change(&rooms, &random)
          waiting.insert(mutation.path.lastSegment)
          _ = client.write([mutation])
        }
        for _ in 0..<25 {
          let asked = Asked(&random)
          let (expected, query) = (asked.results(rooms), try asked.query())
          let fresh = try #require(try await client.freshResults(query))
          let cached = try await client.cachedResults(query)
          let place = "seed \(seed), round \(round), \(count) more writes: \(asked) of \(rooms)"
          #expect(fresh.ids == expected, "\(place)")
          #expect(cached.ids == expected, "\(place)")
          #expect(fresh.changes.map(\.document.path.lastSegment) == expected, "\(place)")
          #expect(Set(fresh.mutatedKeys.map(\.lastSegment)) == waiting.intersection(expected), "\(place)")
          #expect(fresh.documents.allSatisfy { rooms[$0.path.lastSegment].map(fields) == $0.fields }, "\(place)")
        }
      }
      backend.answers.open()
      try await client.waitForPendingWrites()
    }
    await client.shutdown()
  }

  /// An engine that refuses the first query after it has sent some of the results.
  private final class RefusingBackend: ForwardingFirestoreBackend {
    let engine: any FirestoreBackend
    let whenRefused: Locked<[Mutation]>
    let isRefused = Locked(false)

    init(_ engine: any FirestoreBackend, _ mutations: [Mutation]) {
      (self.engine, whenRefused) = (engine, Locked(mutations))
    }

    func backend(serving transaction: [UInt8]?) -> any FirestoreBackend { engine }

    func runQuery(
      _ request: RunQueryRequest, context: CallContext, receive: (RunQueryResponse) async throws -> Void
    ) async throws {
      try await engine.runQuery(request, context: context, receive: receive)
      let mutations = whenRefused.withLock { mutations in
        defer { mutations = [] }
        return mutations
      }
      if mutations.isEmpty { return }
      let writes = mutations.map { $0.write(in: database) }
      _ = try await engine.commit(CommitRequest(database: database.description, writes: writes), context: context)
      throw FirestoreServiceError(.unauthenticated, "The token is too old.")
    }
  }

  @Test func `a query that is asked again has no results of the first answer`() async throws {
    let world = World()
    let writer = world.client()
    try await writer.write((0..<6).map { set("rooms/\($0)", ["n": .integer($0)]) }).acknowledged()
    await writer.shutdown()
    let backend = RefusingBackend(
      world.engine, [Mutation(path("rooms/2"), .delete), set("rooms/4", ["n": .integer(-1)]), set("rooms/5", [:])])
    var options = SyncOptions()
    options.link = .embedded
    let client = SyncClient(database: database, backend: backend, store: nil, options: options)
    let rooms = try LocalQuery(
      database: database, path: path("rooms"), orders: [NormalQuery.Order(FieldPath(["n"]), descending: false)])
    #expect(try await client.freshResults(rooms)?.ids == ["4", "0", "1", "3"])
    await client.shutdown()
  }
}
