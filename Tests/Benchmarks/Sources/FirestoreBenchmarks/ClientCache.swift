import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaSQLite

/// The client with its cache on disk, in front of an engine that it takes for a remote one.
///
/// The cache has three collections of 1,000, 10,000 and 100,000 documents; a query of a group returns 25.
func clientCacheLines() -> [Benchmark] {
  [
    line("cache-query-25-of-100k", .ratio(atMost: 1.5), cacheQueries(of: 100_000), cacheQueries(of: 1_000)),
    line("cache-query-25-of-10k", .ratio(atMost: 1.5), cacheQueries(of: 10_000), cacheQueries(of: 1_000)),
    line("cache-cold-start", .none, coldStarts, cacheQueries(of: 100_000)),
    line("cache-cold-start-collection", .none, coldCollections, largeEngineScans),
    line("client-10k-listeners", .ratio(atMost: 1.5), events(beside: 10_000), events(beside: 10)),
    line("client-listen-10k", .ratio(atMost: 2), listens(10_000), listens(1_000)),
    line("client-snapshot-10k", .none, largeSnapshots, largeEngineQueries),
    line("client-write-to-event", .none, writesToEvents, clientWrites),
    line("decode-10k", .ratio(atMost: 1), decodedDocuments, decodedJSON),
  ]
}

private final class CacheBench: Sendable {
  static let database = "projects/bench/databases/(default)"
  static let groupSize = 25

  private let engine: FirestoreEngine
  private let app: Locked<VestaApp>

  private static let making = SingleFlight<Bool, CacheBench>()
  private static let made = Locked<CacheBench?>(nil)
  private static let shared = Locked<FirestoreEngine?>(nil)

  private struct Missing: Error {}

  private enum EngineLibrary: Library {
    static let name = "bench-engine"
    static let version = "1"

    static func components() -> [Component] {
      [
        Component((any FirestoreBackend).self) { _, isCacheable in
          isCacheable = true
          guard let engine = CacheBench.shared.withLock({ $0 }) else { throw Missing() }
          return engine
        }
      ]
    }
  }

  static func instance() async throws -> CacheBench {
    if let made = made.withLock({ $0 }) { return made }
    return try await making.value(for: true) {
      let bench = try await CacheBench()
      made.withLock { $0 = bench }
      return bench
    }
  }

  private init() async throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    let directory = "\(base)/vesta-bench-cache-\(UUID().uuidString)"
    // Where an app with a remote backend keeps its cache.
    setenv("XDG_DATA_HOME", directory, 1)
    engine = FirestoreEngine(store: try await SQLiteStore.open(named: "documents", in: directory + "/engine"))
    CacheBench.shared.withLock { [engine] in $0 = engine }
    app = Locked(try CacheBench.configure())
    for size in [1_000, 10_000, 100_000] { try await fill(size) }
  }

  private static func configure() throws -> VestaApp {
    try VestaApp.configure(
      name: "bench-cache",
      options: VestaOptions(projectID: "bench", backend: .emulator(host: "localhost", port: 1)),
      libraries: [FirestoreLibrary.self, EngineLibrary.self, SQLiteLibrary.self])
  }

  func firestore() throws -> Firestore { try Firestore.instance(for: app.withLock { $0 }) }

  /// Ends the app and begins anew with what it has left on disk.
  func restart() async throws {
    await app.withLock { $0 }.delete()
    let next = try CacheBench.configure()
    app.withLock { $0 = next }
  }

  private func fill(_ size: Int) async throws {
    let context = CallContext(caller: .owner)
    for first in stride(from: 0, to: size, by: 500) {
      let writes: [Write] = (first..<first + 500).map { number in
        let fields: MapValue = [
          "group": .integer(Int64(number / CacheBench.groupSize)), "number": .integer(Int64(number)),
          "name": .string("item \(number)"), "isOpen": .boolean(number % 2 == 0),
        ]
        return .update(Document(name: "\(CacheBench.database)/documents/c\(size)/i\(number)", fields: fields))
      }
      _ = try await engine.commit(CommitRequest(database: CacheBench.database, writes: writes), context: context)
    }
    for try await snapshot in try firestore().collection("c\(size)").snapshots
    where !snapshot.metadata.isFromCache && snapshot.count == size {
      break
    }
    _ = try await query(size, group: 0)
  }

  func query(_ size: Int, group: Int) async throws -> Int {
    try await firestore().collection("c\(size)").whereField("group", isEqualTo: group)
      .getDocuments(source: .cache).count
  }

  func run(_ query: StructuredQuery) async throws -> Int {
    var count = 0
    let request = RunQueryRequest(parent: "\(CacheBench.database)/documents", query: query)
    try await engine.runQuery(request, context: CallContext(caller: .owner)) { _ in count += 1 }
    return count
  }
}

private func cacheQueries(of size: Int) -> Side {
  Side("cached query, 25 of \(size)", count: 1_000) { _, count, seed in
    let bench = try await CacheBench.instance()
    for index in 0..<count {
      let group = (seed &+ index) & 0xFFFF_FFFF
      guard try await bench.query(size, group: group % (size / CacheBench.groupSize)) == CacheBench.groupSize else {
        preconditionFailure("results are missing")
      }
    }
  }
}

private let coldStarts = Side("first query of a new app", count: 1) { _, count, _ in
  let bench = try await CacheBench.instance()
  for _ in 0..<count {
    try await bench.restart()
    _ = try await bench.query(100_000, group: 7)
  }
}

/// All of a collection after a start; the memory is that of its documents in the client.
private let coldCollections = Side("first snapshot of 100,000 of a new app", count: 1) { _, count, _ in
  let bench = try await CacheBench.instance()
  for _ in 0..<count {
    try await bench.restart()
    let before = residentBytes()
    for try await snapshot in try bench.firestore().collection("c100000").snapshots where snapshot.count == 100_000 {
      break
    }
    print("cache-cold-start-collection: \((residentBytes() - before) / 100_000) bytes for each cached document")
  }
}

private let largeEngineScans = Side("engine query of 100,000", count: 1) { _, count, _ in
  let bench = try await CacheBench.instance()
  for _ in 0..<count {
    guard try await bench.run(StructuredQuery(from: [.init(collectionID: "c100000")])) == 100_000 else {
      preconditionFailure("results are missing")
    }
  }
}

/// The memory of this process, where the system says it.
private func residentBytes() -> Int {
  guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return 0 }
  let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  return pages * 4096
}

private let largeSnapshots = Side("first snapshot of 10,000", count: 5) { _, count, _ in
  let bench = try await CacheBench.instance()
  for _ in 0..<count {
    for try await snapshot in try bench.firestore().collection("c10000").snapshots where snapshot.count == 10_000 {
      break
    }
  }
}

private let largeEngineQueries = Side("engine query of 10,000", count: 5) { _, count, _ in
  let bench = try await CacheBench.instance()
  for _ in 0..<count {
    guard try await bench.run(StructuredQuery(from: [.init(collectionID: "c10000")])) == 10_000 else {
      preconditionFailure("results are missing")
    }
  }
}

private let writesToEvents = Side("write to the event of a listener", count: 500) { _, count, seed in
  try await followWrites(try await CacheBench.instance().firestore(), count, seed)
}

private func followWrites(_ db: Firestore, _ count: Int, _ seed: Int) async throws {
  let document = db.document("events/e")
  var written = 0
  for try await snapshot in document.snapshots(includeMetadataChanges: true) {
    // The event of the engine's answer, not that of the local write.
    if written > 0 {
      guard !snapshot.metadata.hasPendingWrites, (snapshot.get("n") as? NSNumber)?.intValue == written else { continue }
    }
    if written == count { break }
    written += 1
    _ = try document.startSetData(["n": written, "seed": seed])
  }
}

/// The listeners of one client on separate documents, all of which the backend has answered.
///
/// A first event may be the cache's. The backend's remaining work for 10,000 others would count among the
/// events that are measured.
private final class ManyListeners: Sendable {
  private let registrations: [any VestaFirestore.ListenerRegistration]

  init(_ db: Firestore, count: Int, in collection: String = "many") async throws {
    let heard = Locked(0)
    registrations = (0..<count).map { number in
      let isCurrent = Locked(false)
      return db.document("\(collection)/m\(number)").addSnapshotListener(includeMetadataChanges: true) { snapshot, _ in
        guard snapshot?.metadata.isFromCache == false else { return }
        let isFirst = isCurrent.withLock { isCurrent in
          defer { isCurrent = true }
          return !isCurrent
        }
        if isFirst { heard.withLock { $0 += 1 } }
      }
    }
    while heard.withLock({ $0 }) < count { await Task.yield() }
  }

  private static let current = Locked<(count: Int, listeners: ManyListeners)?>(nil)

  /// Has `count` listeners and no others.
  static func prepare(_ db: Firestore, count: Int) async throws {
    let old = current.withLock { $0 }
    if old?.count == count { return }
    old?.listeners.remove()
    let new = try await ManyListeners(db, count: count)
    current.withLock { $0 = (count, new) }
    // The rows of all targets are written before anything is measured.
    try await db.document("settled/s").startSetData(["count": count]).localCommit()
    try await db.waitForPendingWrites()
  }

  func remove() { for registration in registrations { registration.remove() } }
}

/// The cost of one listener's events next to others of the same client.
private func events(beside count: Int) -> Side {
  Side("write to event, \(count) other listeners", count: 200) { _ in
    try await ManyListeners.prepare(try await CacheBench.instance().firestore(), count: count)
  } _: { _, events, seed in
    try await followWrites(try await CacheBench.instance().firestore(), events, seed)
  }
}

private func listens(_ count: Int) -> Side {
  Side("listen, each of \(count)", count: count) { _, count, _ in
    try await ManyListeners(CacheBench.instance().firestore(), count: count, in: "more").remove()
  }
}

private let clientWrites = Side("setData", count: 500) { _, count, seed in
  let bench = try await CacheBench.instance()
  let db = try bench.firestore()
  for index in 0..<count { try await db.document("events/s").setData(["n": index, "seed": seed]) }
}

private struct Item: Codable {
  var group: Int
  var number: Int
  var name: String
  var isOpen: Bool
}

private let fetched = Locked<[QueryDocumentSnapshot]>([])

private let decodedDocuments = Side("10,000 documents decoded, each", count: 10_000) { _ in
  if !fetched.withLock({ $0.isEmpty }) { return }
  let documents = try await CacheBench.instance().firestore().collection("c10000").getDocuments(source: .cache)
    .documents
  fetched.withLock { $0 = documents }
} _: { _, count, _ in
  for document in fetched.withLock({ $0 }).prefix(count) { keep(try document.data(as: Item.self)) }
}

private let texts = (0..<10_000).compactMap { number in
  try? JSONEncoder().encode(Item(group: number / 25, number: number, name: "item \(number)", isOpen: number % 2 == 0))
}

private let decodedJSON = Side("JSONDecoder, each", count: 10_000) { _ in
  precondition(texts.count == 10_000)
} _: { _, count, _ in
  let decoder = JSONDecoder()
  for text in texts.prefix(count) { keep(try decoder.decode(Item.self, from: text)) }
}
