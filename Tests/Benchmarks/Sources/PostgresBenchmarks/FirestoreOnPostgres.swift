import BenchmarkKit
import VestaFirestoreBackend
import VestaFirestoreService
import VestaServiceInterop
import VestaStoreInterop

/// The waits of 32 clients of Firestore's engine with 0.3 ms added to each round trip, compared with no added latency.
func firestoreOnPostgresBenchmarks() -> [Benchmark] {
  let line = { (name: String, count: Int, call: @escaping @Sendable (Calls, Int) async throws -> Void) in
    let side = { @Sendable (latency: Int) in
      do {
        let calls = try await Engines.shared.calls(latency)
        _ = await PostgresBench.cost(64, tasks: 32) { try await call(calls, $0) }
        return await PostgresBench.cost(count, tasks: 32) { try await call(calls, $0) }
      } catch {
        preconditionFailure("the benchmark could not use its engine: \(error)")
      }
    }
    return Benchmark(
      name: "postgres-firestore-\(name)", unit: .microseconds, bar: .none,
      ours: ("32 clients, 0.3 ms added", { await side(300) }), other: ("32 clients", { await side(0) }))
  }
  return [
    line("get", 3_000) { calls, number in try await calls.get(number) },
    line("set", 2_000) { calls, number in try await calls.set(number) },
    line("query", 1_000) { calls, number in try await calls.query(number) },
    line("increment", 1_000) { calls, number in try await calls.increment(number) },
  ]
}

/// An engine for each latency.
private actor Engines {
  static let shared = Engines()
  private var all: [Int: Calls] = [:]

  func calls(_ latency: Int) async throws -> Calls {
    if let calls = all[latency] { return calls }
    let store = try await PostgresBench.shared.open(latency, named: "firestore-\(latency)")
    let calls = Calls(engine: FirestoreEngine(store: store))
    all[latency] = calls
    for start in 0..<10 { try await calls.fill(start) }
    return calls
  }
}

private struct Calls: Sendable {
  let engine: FirestoreEngine
  private let database = "projects/demo/databases/(default)"
  private let owner = CallContext(caller: .owner)

  init(engine: FirestoreEngine) { self.engine = engine }

  private func name(_ number: Int) -> String { "\(database)/documents/rooms\(number % 10)/\(number % 1_000)" }

  func fill(_ start: Int) async throws {
    let writes = (0..<100).map { index in
      Write.update(Document(name: name(index * 10 + start), fields: ["n": .integer(0), "room": .string("Hall")]))
    }
    _ = try await engine.commit(CommitRequest(database: database, writes: writes), context: owner)
  }

  func get(_ number: Int) async throws {
    let request = BatchGetDocumentsRequest(database: database, documents: [name(number &* 7_919)])
    try await engine.batchGet(request, context: owner) { _ in }
  }

  func set(_ number: Int) async throws {
    let run = await PostgresBench.shared.next()
    let document = Document(name: name(number), fields: ["n": .integer(Int64(run)), "room": .string("Hall")])
    _ = try await engine.commit(CommitRequest(database: database, writes: [.update(document)]), context: owner)
  }

  func query(_ number: Int) async throws {
    let query = StructuredQuery(from: [.init(collectionID: "rooms\(number % 10)")], limit: 20)
    let request = RunQueryRequest(parent: "\(database)/documents", query: query)
    try await engine.runQuery(request, context: owner) { _ in }
  }

  func increment(_ number: Int) async throws {
    let write = Write.update(
      Document(name: name(number % 100), fields: [:]), mask: DocumentMask(fieldPaths: []),
      transforms: [.init(fieldPath: "n", .increment(.integer(1)))])
    _ = try await engine.commit(CommitRequest(database: database, writes: [write]), context: owner)
  }
}
