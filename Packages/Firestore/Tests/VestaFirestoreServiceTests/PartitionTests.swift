import Testing
import VestaFirestoreBackend
import VestaTesting

@testable import VestaFirestoreService

struct PartitionTests {
  private static var group: StructuredQuery {
    StructuredQuery(from: [.init(collectionID: "rooms", allDescendants: true)], orderBy: [.init(fieldPath: "__name__")])
  }

  private func fill(_ engine: FirestoreEngine, _ paths: [String]) async throws {
    for start in stride(from: 0, to: paths.count, by: 500) {
      let writes = paths[start..<min(start + 500, paths.count)].map { update($0, [:]) }
      _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
    }
  }

  private func cursors(
    _ engine: FirestoreEngine, count: Int64, pageSize: Int32 = 0
  ) async throws -> [StructuredQuery.Cursor] {
    var cursors: [StructuredQuery.Cursor] = []
    var request = PartitionQueryRequest(
      parent: root, query: PartitionTests.group, partitionCount: count, pageSize: pageSize)
    repeat {
      let page = try await engine.partitionQuery(request, context: owner)
      if pageSize > 0 { #expect(page.partitions.count <= Int(pageSize)) }
      cursors += page.partitions
      request.pageToken = page.nextPageToken
    } while !request.pageToken.isEmpty
    return cursors
  }

  /// The results of each part.
  private func parts(_ engine: FirestoreEngine, _ cursors: [StructuredQuery.Cursor]) async throws -> [[Document]] {
    var parts: [[Document]] = []
    for index in 0...cursors.count {
      var query = PartitionTests.group
      query.startAt = index == 0 ? nil : cursors[index - 1]
      query.endAt = index == cursors.count ? nil : cursors[index]
      parts.append(try await engine.query(query))
    }
    return parts
  }

  @Test(arguments: [UInt64(61), 62, 63])
  func `parts together are the query`(seed: UInt64) async throws {
    var data = SplitMix(seed: seed)
    let engine = makeEngine()
    for _ in 0..<60 { try await engine.commit(data.write()) }
    for count in [Int64(1), 3, 7, 100] {
      let cursors = try await self.cursors(engine, count: count, pageSize: data.pick([0, 1, 2, 3]))
      #expect(cursors.count <= Int(count))
      let parts = try await self.parts(engine, cursors)
      #expect(try await Array(parts.joined()) == engine.query(PartitionTests.group), "seed \(seed)")
      #expect(!parts.contains { $0.isEmpty } || parts.count == 1, "seed \(seed)")
      try await engine.engine(database).indexes.settle()
    }
  }

  @Test func `a large group is sampled`() async throws {
    let store = CountingStore()
    // The index of the group is asked for at the end of the first round, and made outside of what is counted.
    var options = FirestoreServiceOptions()
    options.automaticIndexUses = 2
    let engine = FirestoreEngine(store: store, options: options)
    var generator = SplitMix(seed: 9)
    let letters = Array("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
    let paths = (0..<6000).map { number in
      let id = String((0..<20).map { _ in letters[Int.random(in: 0..<letters.count, using: &generator)] })
      return number.isMultiple(of: 2) ? "rooms/\(id)" : "halls/\(number % 10)/rooms/\(id)"
    }
    try await fill(engine, paths)
    for round in 0..<2 {
      let (rows, cursors) = try await store.rows { try await self.cursors(engine, count: 7) }
      #expect(cursors.count == 7)
      #expect(rows.total <= 4096 + 100, "\(rows)")
      let parts = try await self.parts(engine, cursors)
      #expect(parts.joined().count == 6000)
      #expect(parts.allSatisfy { $0.count < 1500 }, "\(parts.map(\.count))")
      #expect(Set(parts.joined().map(\.name)).count == 6000)
      if round == 0 { _ = try await self.cursors(engine, count: 7) }
      try await engine.engine(database).indexes.settle()
    }
  }

  @Test func `only groups by name are split`() async throws {
    let engine = makeEngine()
    func code(_ change: (inout PartitionQueryRequest) -> Void) async -> ServiceCode? {
      var request = PartitionQueryRequest(parent: root, query: PartitionTests.group, partitionCount: 2)
      change(&request)
      return await failure { _ = try await engine.partitionQuery(request, context: owner) }?.code
    }
    #expect(await code { _ in } == nil)
    #expect(await code { $0.query.orderBy = [] } == nil)
    #expect(await code { $0.query.from[0].allDescendants = false } == .invalidArgument)
    #expect(await code { $0.query.orderBy = [.init(fieldPath: "__name__", .descending)] } == .invalidArgument)
    #expect(await code { $0.query.orderBy = [.init(fieldPath: "n")] } == .invalidArgument)
    #expect(await code { $0.query.filter = .field(path: "n", .equal, .integer(1)) } == .invalidArgument)
    #expect(await code { $0.query.limit = 3 } == .invalidArgument)
    #expect(await code { $0.query.offset = 3 } == .invalidArgument)
    #expect(await code { $0.query.startAt = .init(values: [], before: true) } == .invalidArgument)
    #expect(await code { $0.partitionCount = 0 } == .invalidArgument)
    #expect(await code { $0.pageSize = -1 } == .invalidArgument)
    #expect(await code { $0.pageToken = "zz" } == .invalidArgument)
  }

  @Test func `the page token of another query is refused`() async throws {
    let engine = makeEngine()
    try await fill(engine, (0..<600).map { "rooms/\(1000 + $0)" })
    var request = PartitionQueryRequest(parent: root, query: PartitionTests.group, partitionCount: 4, pageSize: 1)
    let token = try await engine.partitionQuery(request, context: owner).nextPageToken
    try #require(!token.isEmpty)
    request.pageToken = token
    _ = try await engine.partitionQuery(request, context: owner)
    let others: [(inout PartitionQueryRequest) -> Void] = [
      { $0.partitionCount = 5 }, { $0.query.from[0].collectionID = "halls" }, { $0.parent = name("rooms/1000") },
    ]
    for (index, change) in others.enumerated() {
      var other = request
      change(&other)
      let asked = other
      let error = await failure { _ = try await engine.partitionQuery(asked, context: owner) }
      #expect(error?.code == .invalidArgument, "\(index)")
    }
  }
}
