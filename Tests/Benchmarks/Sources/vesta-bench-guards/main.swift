import BenchmarkKit
import GuardBenchmarks

// Rules and Firestore's engine alone, for which few packages need to be built.
let filters = Array(CommandLine.arguments.dropFirst())
await Task.detached { await runBenchmarks(guardBenchmarks(), filters: filters) }.value
