import BenchmarkKit
import Foundation
import VestaBytes
import VestaConcurrency
import VestaFirestoreBackend
import VestaFirestoreService
import VestaFirestoreWire
import VestaSQLite
import VestaServiceInterop
import VestaTransport
import VestaTransportInterop

/// A server with 100,000 documents, and an engine with the same ones in this process.
final class ServerBench: Sendable {
  static let documents = 100_000
  static let root = "projects/bench/databases/(default)/documents"
  static let database = "projects/bench/databases/(default)"
  private static let owner = CallContext(caller: .owner)

  private let lastSeed = Locked(1_000)
  let directory: URL
  let server: VestaProcess
  let engine: FirestoreEngine
  let client: VestaTransportClient
  let channel: GRPCChannel
  let authority: String

  init() async throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    directory = URL(fileURLWithPath: "\(base)/vesta-bench-\(UUID().uuidString)")
    let (served, own) = (directory.appending(path: "served"), directory.appending(path: "own"))
    for folder in [served, own] {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    server = try await VestaProcess.start(served)
    engine = FirestoreEngine(store: try await SQLiteStore.open(named: "documents", in: own.path))
    client = try VestaTransportClient()
    authority = "127.0.0.1:\(try server.port(of: "firestore"))"
    channel = GRPCChannel(client, authority: authority)
    for request in Self.fillings { _ = try await engine.commit(request, context: Self.owner) }
    try await Self.fill(channel)
  }

  /// The commits that make all documents.
  private static var fillings: some Sequence<CommitRequest> {
    stride(from: 0, to: documents, by: 500).lazy.map { first in
      CommitRequest(database: database, writes: (first..<first + 500).map { .update(document($0)) })
    }
  }

  /// Makes all documents at a server.
  static func fill(_ channel: GRPCChannel) async throws {
    for request in fillings { _ = try await channel.unary(path("Commit"), try CommitRequestWire.bytes(of: request)) }
  }

  func remove() async throws {
    server.kill()
    await client.close()
    try await engine.close()
    try FileManager.default.removeItem(at: directory)
  }

  static func path(_ call: String) -> String { "/google.firestore.v1.Firestore/\(call)" }

  static func name(_ number: Int) -> String { "\(root)/items/item\(1_000_000 + number)" }

  static func document(_ number: Int, seed: Int = 0) -> Document {
    let random = (number &* 2_654_435_761 &+ seed &* 40_503) & 0xFFFFFF
    return Document(
      name: name(number),
      fields: [
        "at": .timestamp(Timestamp(seconds: 1_700_000_000 + Int64(random), nanos: 5_000)),
        "done": .boolean(random % 2 == 0), "group": .integer(Int64(number / 20)),
        "price": .double(Double(random) / 100),
        "tags": .array([.string("tag\(random % 100)"), .string("tag\(random % 77)")]),
        "title": .string("title of the item \(random)"),
      ])
  }

  // MARK: Calls

  static func set(_ number: Int, seed: Int) -> CommitRequest {
    CommitRequest(database: database, writes: [.update(document(number, seed: seed))])
  }

  /// A seed that was not used before: a write of the values that a document has commits nothing.
  func nextSeed() -> Int {
    lastSeed.withLock { seed in
      seed += 1
      return seed
    }
  }

  func setByEngine(_ number: Int, seed: Int) async throws {
    _ = try await engine.commit(Self.set(number, seed: seed), context: Self.owner)
  }

  func setByWire(_ number: Int, seed: Int) async throws {
    _ = try await channel.unary(Self.path("Commit"), try CommitRequestWire.bytes(of: Self.set(number, seed: seed)))
  }

  func getByEngine(_ number: Int) async throws {
    var isFound = false
    let request = BatchGetDocumentsRequest(database: Self.database, documents: [Self.name(number)])
    try await engine.batchGet(request, context: Self.owner) { if case .found? = $0.result { isFound = true } }
    guard isFound else { throw Absent() }
  }

  func getByWire(_ number: Int) async throws {
    let response = try await channel.unary(Self.path("GetDocument"), Self.get(number))
    guard response.message.count > 100 else { throw Absent() }
  }

  static func get(_ number: Int) -> [UInt8] {
    var request = GetDocumentRequest()
    request.name = name(number)
    return (try? GetDocumentRequestWire.bytes(of: request)) ?? []
  }

  /// The 20 documents of a group, by the index that the engine makes.
  static func query(_ group: Int) -> RunQueryRequest {
    var query = StructuredQuery(from: [.init(collectionID: "items")])
    query.filter = .field(path: "group", .equal, .integer(Int64(group)))
    return RunQueryRequest(parent: root, query: query)
  }

  func queryByEngine(_ group: Int) async throws {
    var count = 0
    try await engine.runQuery(Self.query(group), context: Self.owner) { if $0.document != nil { count += 1 } }
    guard count == 20 else { throw Absent() }
  }

  /// A call of one request by gRPC, all of its responses.
  func responses(_ call: String, _ message: [UInt8]) async throws -> [[UInt8]] {
    let call = channel.open(Self.path(call))
    try await call.send(message)
    call.finish()
    var all: [[UInt8]] = []
    while let next = try await call.next() { all.append(next) }
    return all
  }

  struct Absent: Error {}
}

/// Runs an operation a number of times, some of them at once.
///
/// - Returns: Nanoseconds for each; not a number when one has failed.
func together(_ tasks: Int, _ count: Int, _ operation: @escaping @Sendable (Int) async throws -> Void) async -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  do {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<tasks {
        group.addTask { for number in stride(from: task, to: count, by: tasks) { try await operation(number) } }
      }
      try await group.waitForAll()
    }
  } catch {
    print("failed: \(error)")
    return .nan
  }
  return ((clock.now - start) / .nanoseconds(1)) / Double(count)
}

/// The median of the times of single operations, in nanoseconds.
func medianTime(_ count: Int, _ operation: (Int) async throws -> Void) async -> Double {
  let clock = ContinuousClock()
  var times: [Double] = []
  do {
    for number in 0..<count {
      let start = clock.now
      try await operation(number)
      times.append((clock.now - start) / .nanoseconds(1))
    }
  } catch {
    print("failed: \(error)")
    return .nan
  }
  return times.sorted()[times.count / 2]
}
