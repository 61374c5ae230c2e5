import BenchmarkKit
import RemoteBenchmarks

// Remote backends over loopback, compared with the engines in the process. `serve` is the other end, which this program
// starts.
let filters = Array(CommandLine.arguments.dropFirst())
try await Task.detached {
  if filters.first == "serve" {
    try await RemoteServer.serve(data: filters.dropFirst().first)
  } else {
    await runBenchmarks(remoteBenchmarks(), filters: filters)
    RemoteServer.endAll()
  }
}.value
