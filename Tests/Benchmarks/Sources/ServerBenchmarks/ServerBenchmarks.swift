public import BenchmarkKit
import VestaConcurrency

/// `vesta` as a process, with clients in other ones and in this one.
///
/// - Returns: The lines, and the end of what they need.
public func serverBenchmarks() async throws -> (lines: [Benchmark], end: @Sendable () async throws -> Void) {
  let bench = try await ServerBench()
  let lines =
    startLines(bench) + (try callLines(bench)) + listenLines(bench) + (try treeLines(bench)) + (try storageLines(bench))
  return (lines, { try await bench.remove() })
}
