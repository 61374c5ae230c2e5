import BenchmarkKit
import PostgresBenchmarks

let arguments = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
await Task.detached {
  if arguments == ["read"] { return await readAsChild() }
  await runBenchmarks(postgresBenchmarks(), filters: arguments)
  await closePostgresBenchmarks()
}.value
