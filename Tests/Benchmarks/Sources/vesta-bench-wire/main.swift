import BenchmarkKit
import WireBenchmarks

// The codecs alone, which need no engine to be built.
let filters = Array(CommandLine.arguments.dropFirst())
await Task.detached { await runBenchmarks(wireBenchmarks(), filters: filters) }.value
