import BenchmarkKit
import ServerBenchmarks

let arguments = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
try await Task.detached {
  let (lines, end) = try await serverBenchmarks()
  await runBenchmarks(lines, filters: arguments)
  try await end()
}.value
