import BenchmarkKit
import RulesBenchmarks

// The rules alone, which need no other package to be built.
let filters = Array(CommandLine.arguments.dropFirst())
await Task.detached { await runBenchmarks(rulesBenchmarks(), filters: filters) }.value
