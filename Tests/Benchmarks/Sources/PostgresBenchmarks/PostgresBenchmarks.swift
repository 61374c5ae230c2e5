public import BenchmarkKit
import PostgresBaseline
import VestaStoreInterop

/// The store on PostgreSQL compared with the same statements sent by libpq by hand, with 0, 0.3 and 1 ms added to each
/// round trip.
///
/// A bar of "at least 0.6 of raw" is a cost of at most 1/0.6.
public func postgresBenchmarks() -> [Benchmark] {
  [0, 300, 1_000].flatMap(lines) + [alone, scan] + firestoreOnPostgresBenchmarks() + processes
}

/// Ends what the benchmarks have opened.
public func closePostgresBenchmarks() async { await PostgresBench.shared.close() }

private func lines(_ latency: Int) -> [Benchmark] {
  let count = latency == 0 ? 4_000 : 1_500
  return [
    line("get", latency, 1 / 0.6, count, tasks: 1, get) { raw, number in _ = raw.get(key(number)) },
    line("get-32-tasks", latency, nil, 2 * count, tasks: 32, get) { raw, number in _ = raw.get(key(number)) },
    line("put", latency, nil, count / 2, tasks: 1, put, rawPut),
    line("put-32-tasks", latency, 1 / 0.7, 2 * count, tasks: 32, put, rawPut),
  ]
}

private func line(
  _ name: String, _ latency: Int, _ bar: Double?, _ count: Int, tasks: Int,
  _ body: @escaping @Sendable (any OrderedStore, Int) async throws -> Void,
  _ raw: @escaping @Sendable (RawPostgres, Int) -> Void
) -> Benchmark {
  Benchmark(
    name: "postgres-\(name)-\(latency)us", unit: .microseconds, bar: bar.map { .ratio(atMost: $0) } ?? .none,
    ours: ("\(name), \(tasks) tasks", { await ours(latency, count, tasks, body) }),
    other: (
      "by hand, \(tasks) threads",
      {
        do {
          _ = try await PostgresBench.shared.store(latency)
          return await PostgresBench.rawCost(try await PostgresBench.shared.url(latency), count, threads: tasks, raw)
        } catch {
          preconditionFailure("the benchmark could not use its store: \(error)")
        }
      }
    ))
}

private func ours(
  _ latency: Int, _ count: Int, _ tasks: Int,
  _ body: @escaping @Sendable (any OrderedStore, Int) async throws -> Void
) async -> Double {
  do {
    let store = try await PostgresBench.shared.store(latency)
    // Connections are opened, and statements prepared, before the time begins.
    _ = await PostgresBench.cost(2 * tasks, tasks: tasks) { try await body(store, $0) }
    return await PostgresBench.cost(count, tasks: tasks) { try await body(store, $0) }
  } catch {
    preconditionFailure("the benchmark could not use its store: \(error)")
  }
}

@Sendable private func key(_ number: Int) -> [UInt8] { PostgresBench.key(number &* 7_919 % PostgresBench.keys) }

@Sendable private func get(_ store: any OrderedStore, _ number: Int) async throws {
  _ = try await store.get(key(number))
}

@Sendable private func put(_ store: any OrderedStore, _ number: Int) async throws {
  try await store.put(PostgresBench.value(number), for: key(number))
}

@Sendable private func rawPut(_ raw: RawPostgres, _ number: Int) {
  raw.put(PostgresBench.value(number), for: key(number))
}

/// Compared with the one statement of a caller that needs no version: the cost of a snapshot.
private let alone = line("get-beside-one-statement", 0, nil, 4_000, tasks: 1, get) { raw, number in
  _ = raw.getAlone(key(number))
}

private let scan = line(
  "scan-of-1000", 0, nil, 200, tasks: 1,
  { store, number in
    let range = KeyRange(from: PostgresBench.key(number * 37 % (PostgresBench.keys - 1_000)), to: nil)
    _ = try await store.read(expecting: .scan(range, order: .ascending, limit: 1_000)) { reader in
      try await reader.scan(range, order: .ascending, limit: 1_000) { _, _ in .next }
    }
  },
  { raw, number in
    _ = raw.scan(from: PostgresBench.key(number * 37 % (PostgresBench.keys - 1_000)), count: 1_000)
  })
