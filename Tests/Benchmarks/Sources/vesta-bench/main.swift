import AuthBenchmarks
import BenchmarkKit
import ConcurrencyBenchmarks
import CoreBenchmarks
import CryptoBenchmarks
import DatabaseBenchmarks
import FirestoreBenchmarks
import FunctionsBenchmarks
import GuardBenchmarks
import MessagingBenchmarks
import RemoteConfigBenchmarks
import RulesBenchmarks
import StorageBenchmarks
import StoreBenchmarks
import WireBenchmarks

// One line per package.
let benchmarks: [Benchmark] =
  concurrencyBenchmarks()
  + coreBenchmarks()
  + cryptoBenchmarks()
  + storeBenchmarks()
  + memoryStoreBenchmarks()
  + authBenchmarks()
  + firestoreBenchmarks()
  + databaseBenchmarks()
  + functionsBenchmarks() + eventBenchmarks()
  + storageBenchmarks()
  + remoteConfigBenchmarks()
  + messagingBenchmarks()
  + rulesBenchmarks()
  + guardBenchmarks()
  + wireBenchmarks()

let filters = Array(CommandLine.arguments.dropFirst())

// Top-level code is on the main actor, where every asynchronous call would hop.
await Task.detached {
  await runBenchmarks(benchmarks, filters: filters)
  await removeStoreBenchmarkFiles()
  await removeAuthBenchmarkFiles()
  await removeFirestoreBenchmarkFiles()
  await removeDatabaseBenchmarkFiles()
  await removeStorageBenchmarkFiles()
  await removeMessagingBenchmarkFiles()
}.value
