import BenchmarkKit
import PostgresBenchmarks

let arguments = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
await Task.detached {
  if arguments.count == 2, arguments[0] == "read" { return await readAsChild(arguments[1]) }
  await runBenchmarks(postgresBenchmarks(), filters: arguments)
  await closePostgresBenchmarks()
}.value
