public import BenchmarkKit
import Foundation
import SQLiteBaseline
import VestaFirestoreBackend

/// The document engine on its SQLite store, compared with SQLite by hand that reads and writes rows of the same length.
///
/// `VESTA_BENCH_DOCUMENTS` sets the size of the largest collection (a million). A bar of "at least 0.5 of raw" is a
/// cost of at most 1/0.5.
public func firestoreBenchmarks() -> [Benchmark] {
  writeLines() + transformLines() + readLines() + streamLines() + pastLines() + indexLines() + listenLines()
    + neighbourLines()
    + clientLines()
    + clientCacheLines()
    + clientCompanyLines()
}

/// Removes the files that the benchmarks have made.
public func removeFirestoreBenchmarkFiles() async {
  do { try await FirestoreBench.remove() } catch { print("files of the benchmarks are left behind: \(error)") }
}

let documentCount = ProcessInfo.processInfo.environment["VESTA_BENCH_DOCUMENTS"].flatMap { Int($0) } ?? 1_000_000

/// One column of a line: what is done, and how often.
struct Side: Sendable {
  let label: String
  let count: Int
  let prepare: @Sendable (FirestoreBench) async throws -> Void
  let body: @Sendable (FirestoreBench, _ count: Int, _ seed: Int) async throws -> Void

  init(
    _ label: String, count: Int, prepare: @escaping @Sendable (FirestoreBench) async throws -> Void = { _ in },
    _ body: @escaping @Sendable (FirestoreBench, _ count: Int, _ seed: Int) async throws -> Void
  ) {
    (self.label, self.count, self.prepare, self.body) = (label, count, prepare, body)
  }

  /// Nanoseconds for one of the operations.
  func cost() async -> Double {
    do {
      let bench = try await FirestoreBench.shared()
      try await prepare(bench)
      // A separate seed for each run, or the written data would be there already.
      let seed = Int(truncatingIfNeeded: DispatchTime.now().uptimeNanoseconds)
      let start = ContinuousClock.now
      try await body(bench, count, seed)
      return (ContinuousClock.now - start) / .nanoseconds(1) / Double(count)
    } catch {
      preconditionFailure("the benchmark could not use its engine: \(error)")
    }
  }
}

func line(_ name: String, _ bar: Benchmark.Bar, _ ours: Side, _ other: Side, rounds: Int = 5) -> Benchmark {
  Benchmark(
    name: "firestore-\(name)", unit: .microseconds, bar: bar, ours: (ours.label, { await ours.cost() }),
    other: (other.label, { await other.cost() }), rounds: rounds)
}

/// Does something a number of times, shared among tasks.
func fromTasks(
  _ tasks: Int, _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
) async throws {
  try await withThrowingTaskGroup { group in
    for task in 0..<tasks {
      group.addTask { for index in stride(from: task, to: count, by: tasks) { try await body(index) } }
    }
    try await group.waitForAll()
  }
}
