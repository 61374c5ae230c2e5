import BenchmarkKit
import Foundation
import SQLiteBaseline
import VestaSQLite
import VestaStoreInterop

/// The durable puts of a program that has just opened its store: the log has no length yet, and each commit that makes
/// it longer changes the file system's journal too.
let firstPuts = Benchmark(
  name: "store-first-puts", unit: .microseconds, bar: .ratio(atMost: 0.9),
  ours: ("put into a store just opened", { await cost(putsIntoStore) }),
  other: ("raw, just opened", { await cost(putsByHand) }))

private let count = 500

/// How many nanoseconds a put takes in new files.
private func cost(_ puts: (_ directory: String) async throws -> Duration) async -> Double {
  let base = ProcessInfo.processInfo.environment["VESTA_BENCH_DIR"] ?? FileManager.default.temporaryDirectory.path
  let directory = "\(base)/vesta-bench-\(UUID().uuidString)"
  do {
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    let elapsed = try await puts(directory)
    try FileManager.default.removeItem(atPath: directory)
    return elapsed / .nanoseconds(1) / Double(count)
  } catch {
    preconditionFailure("the benchmark could not use its store: \(error)")
  }
}

private func putsIntoStore(_ directory: String) async throws -> Duration {
  let store = try await SQLiteStore.open(named: "bench", in: directory)
  let start = ContinuousClock.now
  for number in 0..<count {
    let (key, value) = (Workload.key(Workload.mix(number)), Workload.value(number, length: 100))
    try await store.write { try await $0.put(value, for: key) }
  }
  let elapsed = ContinuousClock.now - start
  try await store.close()
  return elapsed
}

private func putsByHand(_ directory: String) -> Duration {
  let raw = RawSQLite(path: "\(directory)/raw.sqlite")
  let start = ContinuousClock.now
  for number in 0..<count {
    raw.begin()
    raw.put(Workload.value(number, length: 100), for: Workload.key(Workload.mix(number)))
    raw.commit()
  }
  return ContinuousClock.now - start
}
