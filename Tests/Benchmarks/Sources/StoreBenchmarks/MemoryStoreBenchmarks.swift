public import BenchmarkKit
import SQLiteBaseline
import VestaMemoryStore
import VestaStoreInterop

/// The cost of a put into the in-memory store as it grows: a million keys, compared with a tenth of that.
///
/// A tree of ten times the size is one level deeper and misses the caches more often; quadratic growth would show as
/// 10.
public func memoryStoreBenchmarks() -> [Benchmark] {
  [
    Benchmark(
      name: "memory-store-puts", bar: .ratio(atMost: 4),
      ours: ("put, 1,000,000 keys", { await costOfPuts(1_000_000) }),
      other: ("put, 100,000 keys", { await costOfPuts(100_000) }))
  ]
}

private func costOfPuts(_ count: Int) async -> Double {
  let store = MemoryStore()
  let start = ContinuousClock.now
  do {
    for first in stride(from: 0, to: count, by: 1_000) {
      try await store.write { transaction in
        for number in first..<first + 1_000 {
          try await transaction.put(Workload.value(number, length: 100), for: Workload.key(Workload.mix(number)))
        }
      }
    }
    let elapsed = ContinuousClock.now - start
    try await store.close()
    return elapsed / .nanoseconds(1) / Double(count)
  } catch {
    preconditionFailure("the benchmark could not use its store: \(error)")
  }
}
