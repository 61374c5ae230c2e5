import Foundation
import Testing
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreModel
import VestaStoreInterop
import VestaStoreInteropFakes
import VestaTesting

@testable import VestaFirestoreSync

/// A durable cache against a model that keeps everything in memory, through all events that a client can meet.
@Suite(.timeLimit(.minutes(15)))
struct CacheHistoryTests {
  @Test(arguments: 1...4) func `a cache is what was fetched and written, whatever happens to its client`(
    seed: UInt64
  ) async throws {
    var history = try await CacheHistory(seed: seed, documents: 130)
    for _ in 0..<60 { try await history.step() }
    try await history.end()
  }

  @Test func `a cache with durable indexes is what was fetched and written`() async throws {
    var history = try await CacheHistory(seed: 101, documents: 1_050)
    for _ in 0..<25 { try await history.step() }
    try await history.end()
  }
}

/// The same for longer, with many listeners and documents; `VESTA_CACHE_SEED` is the first seed.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["VESTA_SOAK"] != nil))
struct CacheHistorySoakTests {
  private static func setting(_ name: String, _ standard: Int) -> Int {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard
  }

  @Test(arguments: 0..<setting("VESTA_CACHE_COUNT", 100)) func `Soak: a cache is what was fetched and written`(
    seed: Int
  ) async throws {
    let first = Self.setting("VESTA_CACHE_SEED", 5_000)
    var history = try await CacheHistory(seed: UInt64(first + seed), documents: 130, listeners: 20)
    for _ in 0..<300 { try await history.step() }
    try await history.end()
  }

  @Test func `Soak: a cache of 100,000 documents with 10,000 listeners is what was fetched and written`() async throws {
    let size = Self.setting("VESTA_CACHE_DOCUMENTS", 100_000)
    var history = try await CacheHistory(seed: 9_000, documents: size, listeners: size / 10)
    for _ in 0..<Self.setting("VESTA_CACHE_STEPS", 100) { try await history.step() }
    try await history.end()
  }
}

/// One client of the collection `items`, of two users, and what its cache must show.
struct CacheHistory {
  /// A write as the model does it.
  private enum Operation {
    case set(MapValue)
    case merge(MapValue, mustExist: Bool)
    case increment
    case delete

    func applied(to fields: MapValue?) -> MapValue? {
      switch self {
      case .set(let new): return new
      case .merge(let new, let mustExist):
        guard fields != nil || !mustExist else { return nil }
        return new.reduce(into: fields ?? [:]) { $0[$1.name] = $1.value }
      case .increment:
        var fields = fields ?? [:]
        let old: Int64 = if case .integer(let value)? = fields["n"] { value } else { 0 }
        fields["n"] = .integer(old + 1)
        return fields
      case .delete: return nil
      }
    }

    func mutation(of id: String) -> Mutation {
      let document = path("items/\(id)")
      switch self {
      case .set(let fields): return Mutation(document, .set(fields))
      case .merge(let fields, let mustExist):
        let mask = FieldMask(fields.map { FieldPath([$0.name]) })
        return Mutation(document, .patch(fields, mask: mask), precondition: mustExist ? .exists(true) : nil)
      case .increment:
        let transform = Mutation.Transform(FieldPath(["n"]), .increment(.integer(1)))
        return Mutation(document, .patch([:], mask: FieldMask([])), transforms: [transform])
      case .delete: return Mutation(document, .delete)
      }
    }
  }

  /// Writes that go together, and what numbers were when they were incremented.
  private struct Batch {
    var operations: [(id: String, operation: Operation)]
    var bases: [String: Int64] = [:]

    /// Numbers are as they were at the time of the write, whatever the backend has said since.
    init(_ operations: [(id: String, operation: Operation)], on shown: [String: MapValue]) {
      self.operations = operations
      for (id, operation) in operations {
        guard case .increment = operation else { continue }
        bases[id] = if case .integer(let value)? = shown[id]?["n"] { value } else { 0 }
      }
    }

    func apply(to documents: inout [String: MapValue]) {
      for (id, number) in bases { documents[id]?["n"] = .integer(number) }
      for (id, operation) in operations { documents[id] = operation.applied(to: documents[id]) }
    }

    var mutations: [Mutation] { operations.map { $0.operation.mutation(of: $0.id) } }
  }

  private let seed: UInt64
  private let size: Int
  private let world = World()
  private let other: SyncClient
  private var random: SplitMix
  private var disk = FullStore()
  private var client: SyncClient
  private var user = "alice"
  /// The documents of the backend when the client last followed it.
  private var cached: [String: MapValue] = [:]
  private var pending: [String: [Batch]] = [:]

  private let listeners: Int
  /// The listeners of the first documents, each on one, and the snapshots that they have received.
  private var listening: [(id: String, received: Received, registration: ListenerRegistration)] = []

  init(seed: UInt64, documents: Int, listeners: Int = 0) async throws {
    self.seed = seed
    self.listeners = listeners
    size = documents
    random = SplitMix(seed: seed)
    other = world.client()
    client = world.client(store: disk.store) { $0.user = "alice" }
    for first in stride(from: 0, to: documents, by: 300) {
      let mutations = (first..<min(documents, first + 300)).map { Operation.set(fields()).mutation(of: "i\($0)") }
      try await other.write(mutations).acknowledged()
    }
    await client.setNetworkEnabled(false)
    try listen()
    try await follow()
  }

  private mutating func listen() throws {
    listening = try (0..<listeners).map { number in
      let received = Received(keepsAll: false)
      let query = try LocalQuery(database: database, path: path("items/i\(number)"))
      let registration = client.listen(query, options: ListenOptions(includesMetadata: true)) { received.receive($0) }
      return ("i\(number)", received, registration)
    }
  }

  private mutating func fields() -> MapValue {
    ["n": .integer(Int64(random.below(40))), "t": .array([.integer(Int64(random.below(9)))])]
  }

  private mutating func randomOperation() -> (id: String, operation: Operation) {
    let id = "i\(random.below(size + 10))"
    switch random.below(6) {
    case 0: return (id, .delete)
    case 1: return (id, .increment)
    case 2: return (id, .merge(["p": .integer(Int64(random.below(9)))], mustExist: true))
    case 3: return (id, .merge(["n": .integer(Int64(random.below(40)))], mustExist: false))
    default: return (id, .set(fields()))
    }
  }

  /// The documents that the current user sees.
  private var shown: [String: MapValue] {
    (pending[user] ?? []).reduce(into: cached) { $1.apply(to: &$0) }
  }

  mutating func step() async throws {
    switch random.below(20) {
    case 0: try await follow()
    case 1: try await restart()
    case 2: try await crash()
    case 3: try await damage()
    case 4: if random.oneIn(3) { try await clear() }
    case 5:
      user = user == "alice" ? "bob" : "alice"
      client.changeUser(user)
    case 6: disk.isFull.withLock { $0.toggle() }
    case 7: try await other.write([mutationOfOthers()]).acknowledged()
    case 8: try await cancelSomething()
    case 9..<14: try await write()
    case 14: try await checkListener()
    case 15: try await checkDocument("i\(random.below(size + 10))")
    default: try await check(randomQuery())
    }
  }

  mutating func end() async throws {
    disk.isFull.withLock { $0 = false }
    for name in ["alice", "bob"] {
      user = name
      client.changeUser(name)
      try await follow()
    }
    await client.setNetworkEnabled(true)
    try await check(query("items"))
    for (id, received, _) in listening {
      let fields = cached[id]
      _ = try await received.first { !$0.isFromCache && $0.documents.first?.fields == fields }
    }
    await client.shutdown()
    await other.shutdown()
  }

  // MARK: Events

  private mutating func mutationOfOthers() -> Mutation {
    let (id, operation) = randomOperation()
    // Nothing that the backend may refuse.
    if case .merge(let fields, _) = operation { return Operation.set(fields).mutation(of: id) }
    return operation.mutation(of: id)
  }

  private mutating func write() async throws {
    let operations = (0...random.below(3)).map { _ in randomOperation() }
    let batch = Batch(operations, on: shown)
    let write = client.write(batch.mutations)
    pending[user, default: []].append(batch)
    guard random.oneIn(2) else { return }
    if disk.isFull.withLock({ $0 }) {
      await #expect(throws: StoreError.self) { try await write.localCommit() }
    } else {
      try await write.localCommit()
    }
  }

  /// Sends what is pending, and fetches what others have written.
  private mutating func follow() async throws {
    await client.setNetworkEnabled(true)
    try await client.waitForPendingWrites()
    pending[user] = []
    let ids = (0..<size + 10).map { "i\($0)" }
    let found = try await other.lookup(ids.map { path("items/\($0)") })
    cached = Dictionary(
      uniqueKeysWithValues: zip(ids, found).compactMap { id, document in
        document.fields.map { (id, $0) }
      })
    let (expected, received) = (text(of: cached), Received())
    let options = ListenOptions(includesMetadata: true)
    let registration = client.listen(try query("items"), options: options) { received.receive($0) }
    _ = try await received.first { !$0.isFromCache && !$0.hasPendingWrites && text(of: $0) == expected }
    registration.remove()
    await client.setNetworkEnabled(false)
  }

  private mutating func restart() async throws {
    disk.isFull.withLock { $0 = false }
    await client.shutdown()
    await begin()
  }

  private mutating func begin() async {
    let user = user
    client = world.client(store: disk.store) { $0.user = user }
    await client.setNetworkEnabled(false)
    do { try listen() } catch { Issue.record("\(error)") }
  }

  /// The process ends while a write is on its way to the disk.
  private mutating func crash() async throws {
    disk.isFull.withLock { $0 = false }
    let kept = Batch([randomOperation()], on: shown)
    try await client.write(kept.mutations).localCommit()
    pending[user, default: []].append(kept)
    let last = Batch([randomOperation()], on: shown)
    _ = client.write(last.mutations)
    for _ in 0..<random.below(4) { await Task.yield() }
    let rows = try await disk.store.read { try await $0.entries(in: .all) }
    await client.shutdown()
    try await replaceStore(by: rows)
    await begin()
    // The last write is there as a whole, or not at all.
    let count = rows.count { row in
      if case .batch(let owner, _)? = key(of: row.key) { return owner.string == user }
      return false
    }
    let isKept = count > pending[user, default: []].count
    if isKept { pending[user, default: []].append(last) }
    try await checkDocument(last.operations[0].id)
  }

  /// Continues with a store that has some rows and nothing else.
  private mutating func replaceStore(by rows: [StoreEntry]) async throws {
    disk = FullStore()
    _ = try await disk.store.write { for row in rows { try await $0.put(row.value, for: row.key) } }
  }

  private func key(of row: [UInt8]) -> CacheKey? {
    try? CacheKey(Array(row.dropFirst(SyncOptions().persistenceKey.utf8.count + 1)))
  }

  private mutating func damage() async throws {
    disk.isFull.withLock { $0 = false }
    await client.shutdown()
    let rows = try await disk.store.read { try await $0.entries(in: .all) }.filter { row in
      switch key(of: row.key) {
      case .batch?, .setAside?: false
      default: true
      }
    }
    if let row = rows.randomElement(using: &random) {
      let bytes = random.oneIn(2) ? random.bytes(1 + random.below(20)) : Array(row.value.dropLast(1 + random.below(3)))
      _ = try await disk.store.write { try await $0.put(bytes, for: row.key) }
    }
    await begin()
    // Any row that is read now may be missing, and nothing crashes.
    _ = try await client.cachedResults(randomQuery())
    // A row that happens to make sense with other bytes shows others until its collection is fetched again.
    try await clearAllButWrites()
  }

  /// Fetches everything again into an empty cache, with the pending writes of the other user.
  private mutating func clearAllButWrites() async throws {
    await client.shutdown()
    let rows = try await disk.store.read { try await $0.entries(in: .all) }
    try await replaceStore(by: rows.filter { key(of: $0.key)?.isBatch == true })
    await begin()
    try await follow()
  }

  private mutating func clear() async throws {
    disk.isFull.withLock { $0 = false }
    await client.shutdown()
    try await SyncClient.clear(disk.store, persistenceKey: SyncOptions().persistenceKey)
    pending = [:]
    await begin()
    #expect(try await client.cachedResults(query("items")).documents.isEmpty, "seed \(seed)")
    try await follow()
  }

  private mutating func cancelSomething() async throws {
    let (client, query) = (client, try randomQuery())
    let task = Task { try await client.cachedResults(query) }
    if random.oneIn(2) { await Task.yield() }
    task.cancel()
    _ = await task.result
  }

  // MARK: Checks

  private mutating func randomQuery() throws -> LocalQuery {
    let filters: [Filter] = [
      .field(path: "n", .equal, .integer(Int64(random.below(40)))),
      .field(path: "n", .greaterThan, .integer(Int64(random.below(40)))),
      .field(path: "t", .arrayContains, .integer(Int64(random.below(9)))),
      .field(path: "p", .lessThanOrEqual, .integer(Int64(random.below(9)))),
    ]
    let orders = random.oneIn(2) ? [] : [NormalQuery.Order(FieldPath(["n"]), descending: random.oneIn(2))]
    let limit = random.oneIn(2) ? 1 + random.below(8) : nil
    return try LocalQuery(
      database: database, path: path("items"), filters: Array(filters.shuffled(using: &random).prefix(random.below(3))),
      orders: orders, limit: limit, limitType: limit != nil && !orders.isEmpty && random.oneIn(2) ? .last : .first)
  }

  private func expected(_ query: LocalQuery) -> [String] {
    let all = shown.map { id, fields in
      CachedDocument(ResourceName(database: database, path: path("items/\(id)")), .found(fields))
    }
    let sorted = all.filter { query.matches($0) }.sorted { query.compare($0, $1) < 0 }
    guard let limit = query.limit else { return sorted.map(text) }
    return (query.limitType == .first ? sorted.prefix(limit) : sorted.suffix(limit)).map(text)
  }

  private func check(_ query: LocalQuery) async throws {
    let found = try await client.cachedResults(query)
    #expect(text(of: found) == expected(query), "seed \(seed): \(query.canonicalID)")
  }

  private func checkDocument(_ id: String) async throws {
    let found = try await client.cachedDocument(path("items/\(id)"))
    #expect(found.fields == shown[id], "seed \(seed): \(id)")
  }

  private mutating func checkListener() async throws {
    let (query, received) = (try randomQuery(), Received())
    let registration = client.listen(query, options: ListenOptions(includesMetadata: true)) { received.receive($0) }
    _ = try await received.first { _ in true }
    #expect(received.snapshots.first.map(text(of:)) == expected(query), "seed \(seed): \(query.canonicalID)")
    registration.remove()
  }
}

private func text(_ document: CachedDocument) -> String {
  "\(document.path.lastSegment) \(CanonicalForm.text(of: .map(document.fields ?? [:])))"
}

private func text(of snapshot: ViewSnapshot) -> [String] { snapshot.documents.map(text) }

private func text(of model: [String: MapValue]) -> [String] {
  model.map { id, fields in
    CachedDocument(ResourceName(database: database, path: path("items/\(id)")), .found(fields))
  }.sorted { $0.path < $1.path }.map(text)
}
