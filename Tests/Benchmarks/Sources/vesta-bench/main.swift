import BenchmarkKit
import ConcurrencyBenchmarks
import CoreBenchmarks
import CryptoBenchmarks

// One line per package.
let benchmarks: [Benchmark] =
  concurrencyBenchmarks()
  + coreBenchmarks()
  + cryptoBenchmarks()

let filters = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
await Task.detached { await runBenchmarks(benchmarks, filters: filters) }.value
