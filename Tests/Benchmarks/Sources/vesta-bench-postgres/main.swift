import BenchmarkKit
import PostgresBenchmarks

let arguments = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
await Task.detached {
  if await workAsChild(arguments) { return }
  await runBenchmarks(postgresBenchmarks(), filters: arguments)
  await closePostgresBenchmarks()
}.value
