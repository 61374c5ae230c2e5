import BenchmarkKit
import Foundation

private let line = "rules-get-allocations"

/// The calls of the allocator of a get by the real ruleset, as a program of its own counts them.
///
/// That program has an allocator that counts, which would change the times of all lines here.
var allocations: Benchmark {
  let program = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
    .appending(path: "vesta-rules-allocations").path
  guard FileManager.default.isExecutableFile(atPath: program) else {
    return Benchmark(
      name: line, absence: "not measured: vesta-rules-allocations is not built, which `Scripts/bench rules` does")
  }
  if case .failure(let absence) = Result(catching: { () throws(RealRulesets.Absence) in try RealDecision.get() }) {
    return Benchmark(name: line, absence: absence.sentence)
  }
  /// A column of the program's line about gets; not a number where it did not run.
  @Sendable func count(_ column: Int) async -> Double {
    for text in await Program.output(program).split(separator: "\n") {
      let words = text.split(separator: " ")
      if words.count == 3, words[0] == "rules-get" { return Double(words[column]) ?? .nan }
    }
    return .nan
  }
  return Benchmark(
    name: line, unit: .allocations, bar: .figure(atMost: 2), ours: ("a get of own integrations", { await count(1) }),
    other: ("the same by hand", { await count(2) }))
}
