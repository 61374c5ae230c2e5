public import BenchmarkKit
import Foundation
import SQLiteBaseline

/// The SQLite store compared with SQLite used by hand, with the same table and settings.
///
/// `VESTA_BENCH_KEYS` sets the number of keys (a million). A bar of "at least 0.6 of raw" is a cost of at most 1/0.6.
public func storeBenchmarks() -> [Benchmark] {
  lines("100b", LazyTable(length: 100, keys: keys), many: 10_000, batch: 1_000)
    + lines("1kib", LazyTable(length: 1_024, keys: keys), many: 10_000, batch: 1_000)
    + lines("100kib", LazyTable(length: 102_400, keys: max(200, keys / 500)), many: 200, batch: 100)
    + [firstPuts]
}

private let keys = ProcessInfo.processInfo.environment["VESTA_BENCH_KEYS"].flatMap { Int($0) } ?? 1_000_000

private func lines(_ size: String, _ table: LazyTable, many: Int, batch: Int) -> [Benchmark] {
  // The bars are for small values; large ones are bound by the bytes that are written.
  let isSmall = size != "100kib"
  let bar = { (share: Double) in isSmall ? Benchmark.Bar.ratio(atMost: 1 / share) : .none }
  let line = { (name: String, bar: Benchmark.Bar, count: Int, delay: Int, ours: Task, other: Task) in
    Benchmark(
      name: "store-\(size)-\(name)", unit: .microseconds, bar: bar,
      ours: (ours.label, { await table.cost(count, delay: delay, ours.side) }),
      other: (other.label, { await table.cost(count, delay: delay, other.side) }))
  }
  let one = Task("put, 1 task") { $0.storePutsFromTasks(1) }
  let many32 = Task("put, 32 tasks") { $0.storePutsFromTasks(32) }
  return [
    line(
      "get", bar(0.6), 20 * many, 0, Task("get, 1000 in a body") { $0.storeGets(per: 1_000) },
      Task("raw, 1000 in a transaction") { $0.rawGets(per: 1_000) }),
    line(
      "get-alone", bar(0.6), 10 * many, 0, Task("get, one in a body") { $0.storeGets(per: 1) },
      Task("raw, by itself") { $0.rawAutocommitGets }),
    line(
      "multi-get", bar(0.6), 20 * many, 0, Task("get of 100, each") { $0.storeMultiGets },
      Task("raw, 100 in a transaction") { $0.rawGets(per: 100) }),
    line(
      "scan", bar(0.5), 50 * many, 0, Task("scan of 1000, each") { $0.storeScans },
      Task("raw scan") { $0.rawScans }),
    line(
      "batch", bar(0.7), many, 0, Task("batch of \(batch) puts, each") { $0.storePuts(per: batch) },
      Task("raw batch") { $0.rawPuts(per: batch) }),
    line(
      "put", bar(0.8), many / 5, 0, Task("durable put, 1 task") { $0.storePuts(per: 1) },
      Task("raw durable put") { $0.rawPuts(per: 1) }),
    line("put-32-tasks", bar(2), many / 2, 0, many32, one),
    line("put-32-tasks-slow-sync", bar(8), 320, 2_000, many32, one),
    line(
      "transactions", .none, many / 2, 0, Task("a leader runs bodies in turn") { $0.updatesInTurn },
      Task("parallel bodies, a bound") { $0.optimisticUpdates }),
  ]
}

/// One column of a line.
private struct Task: Sendable {
  let label: String
  let side: @Sendable (StoreTable) -> StoreTable.Side

  init(_ label: String, _ side: @escaping @Sendable (StoreTable) -> StoreTable.Side) {
    (self.label, self.side) = (label, side)
  }
}

/// A table that is made when the first line needs it, and removed by `removeStoreBenchmarkFiles`.
private actor LazyTable {
  private let length: Int
  private let keys: Int
  private var table: StoreTable?
  private var runs = 0

  init(length: Int, keys: Int) { (self.length, self.keys) = (length, keys) }

  /// How many nanoseconds one of `count` operations takes.
  nonisolated func cost(
    _ count: Int, delay: Int, _ side: @Sendable (StoreTable) -> StoreTable.Side
  ) async -> Double {
    do {
      let (table, seed) = try await prepare()
      try await table.delaySyncs(microseconds: delay)
      let start = ContinuousClock.now
      try await side(table)(count, seed)
      let elapsed = ContinuousClock.now - start
      try await table.delaySyncs(microseconds: 0)
      return elapsed / .nanoseconds(1) / Double(count)
    } catch {
      preconditionFailure("the benchmark could not use its store: \(error)")
    }
  }

  private func prepare() async throws -> (StoreTable, seed: Int) {
    runs += 1
    // A separate seed for each run, or values would be written that are there already, which SQLite skips.
    let seed = Workload.mix(runs) >> 20
    if let table { return (table, seed) }
    let made = try await StoreTable(length: length, keys: keys)
    table = made
    Leftovers.add(made)
    return (made, seed)
  }
}
