import BenchmarkKit
import Foundation
import VestaConcurrency
import VestaCore
import VestaFirestore
import VestaFirestoreBackend
import VestaFirestoreService
import VestaSQLite

/// The client in an app with an embedded engine, compared with the engine beneath it.
func clientLines() -> [Benchmark] {
  [
    line("client-get", .ratio(atMost: 3), clientGets, engineGets),
    line("client-set", .ratio(atMost: 3), clientSets, engineSets),
    line("client-query-20", .ratio(atMost: 3), clientQueries, engineQueries),
    line("client-first-snapshot", .ratio(atMost: 3), firstSnapshots, engineQueries),
  ]
}

/// An app with some documents.
private final class ClientBench: Sendable {
  let app: VestaApp
  let db: Firestore
  let backend: any FirestoreBackend
  static let root = "projects/bench/databases/(default)/documents"
  static let size = 1_000

  private static let making = SingleFlight<Bool, ClientBench>()
  private static let made = Locked<ClientBench?>(nil)

  static func shared() async throws -> ClientBench {
    if let made = made.withLock({ $0 }) { return made }
    return try await making.value(for: true) {
      let bench = try await ClientBench()
      made.withLock { $0 = bench }
      return bench
    }
  }

  private init() async throws {
    let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
    let directory = URL(fileURLWithPath: "\(base)/vesta-bench-client-\(UUID().uuidString)")
    app = try VestaApp.configure(
      name: "bench", options: VestaOptions(projectID: "bench", backend: .embedded(directory: directory)),
      libraries: [FirestoreLibrary.self, FirestoreServiceLibrary.self, SQLiteLibrary.self])
    db = try Firestore.instance(for: app)
    backend = try app.container.require((any FirestoreBackend).self)
    for first in stride(from: 0, to: Self.size, by: 100) {
      let batch = db.batch()
      for number in first..<first + 100 {
        batch.setData(["number": number, "name": "item \(number)"], forDocument: document(number))
      }
      try await batch.commit()
    }
  }

  func document(_ number: Int) -> DocumentReference { db.document("items/i\(number)") }
}

private let clientGets = Side("getDocument", count: 20_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    guard try await bench.document((seed &+ index) & 511).getDocument().exists else { preconditionFailure("missing") }
  }
}

private let engineGets = Side("engine get", count: 20_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    let request = BatchGetDocumentsRequest(
      database: "projects/bench/databases/(default)",
      documents: ["\(ClientBench.root)/items/i\((seed &+ index) & 511)"])
    try await bench.backend.batchGet(request, context: CallContext()) { _ in }
  }
}

private let clientSets = Side("setData", count: 1_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    try await bench.db.document("sets/s\(index)").setData(["number": seed &+ index, "name": "item"])
  }
}

private let engineSets = Side("engine set", count: 1_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    let document = Document(
      name: "\(ClientBench.root)/raw/s\(index)",
      fields: ["number": .integer(Int64(seed &+ index)), "name": .string("item")])
    let request = CommitRequest(database: "projects/bench/databases/(default)", writes: [.update(document)])
    _ = try await bench.backend.commit(request, context: CallContext())
  }
}

private let clientQueries = Side("getDocuments of 20", count: 1_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    let query = bench.db.collection("items").whereField("number", isGreaterThanOrEqualTo: (seed &+ index) & 511)
    guard try await query.limit(to: 20).getDocuments().count == 20 else { preconditionFailure("results are missing") }
  }
}

private let firstSnapshots = Side("first snapshot of 20", count: 1_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    let query = bench.db.collection("items").whereField("number", isGreaterThanOrEqualTo: (seed &+ index) & 511)
    for try await snapshot in query.limit(to: 20).snapshots where snapshot.count == 20 { break }
  }
}

private let engineQueries = Side("engine query of 20", count: 1_000) { _, count, seed in
  let bench = try await ClientBench.shared()
  for index in 0..<count {
    let query = StructuredQuery(
      from: [.init(collectionID: "items")],
      filter: .field(path: "number", .greaterThanOrEqual, .integer(Int64((seed &+ index) & 511))),
      orderBy: [.init(fieldPath: "number")], limit: 20)
    try await bench.backend.runQuery(
      RunQueryRequest(parent: ClientBench.root, query: query), context: CallContext()
    ) { _ in }
  }
}
