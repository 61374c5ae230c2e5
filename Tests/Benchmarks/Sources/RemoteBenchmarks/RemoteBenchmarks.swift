public import BenchmarkKit

/// Remote backends, compared with the same calls of an engine in the process, and their limits.
public func remoteBenchmarks() -> [Benchmark] {
  documentBenchmarks() + [listenerMemory, reconnection, download, binary]
}

/// A measurement that cannot be made has no figure.
func figure(_ run: @escaping @Sendable () async throws -> Double) -> Benchmark.Run {
  {
    do {
      return try await run()
    } catch {
      print("not measured: \(error)")
      return .nan
    }
  }
}
