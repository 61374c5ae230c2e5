import BenchmarkKit
import TransportBenchmarks

let arguments = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
try await Task.detached {
  await runBenchmarks(try await transportBenchmarks(), filters: arguments)
  stopTransportBenchmarks()
}.value
