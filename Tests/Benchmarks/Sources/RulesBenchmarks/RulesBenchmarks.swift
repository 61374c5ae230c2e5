public import BenchmarkKit
import VestaRules

/// The cost of decisions, compared with the same decision written by hand in Swift.
public func rulesBenchmarks() -> [Benchmark] {
  RealDecision.all.map { line($0.name, $0.make) } + [allocations]
    + [
      query, wideQuery, siblings, coverage, trace, traceText, compileSmall, compileLarge, hostilePattern, assertions,
    ]
    .compactMap { $0 }
}

/// A line for a decision of a real ruleset.
private func line(_ name: String, _ make: () throws(RealRulesets.Absence) -> RealDecision) -> Benchmark {
  let decision: RealDecision
  do {
    decision = try make()
  } catch {
    return Benchmark(name: name, absence: error.sentence)
  }
  let (ours, byHand, count) = (decision.ours, decision.byHand, decision.count)
  precondition(ours() && byHand(), name)
  return Benchmark(
    name: name, bar: .both(figure: decision.microseconds * 1_000, ratio: 10),
    ours: (decision.label, { sum(count) { ours() ? 1 : 0 } }),
    other: ("the same by hand", { sum(count) { byHand() ? 1 : 0 } }),
    samples: { samples(20_000) { ours() ? 1 : 0 } }, otherSamples: { samples(20_000) { byHand() ? 1 : 0 } })
}
