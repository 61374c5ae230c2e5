import BenchmarkKit
import CVestaCountingAllocator
import RulesBenchmarks

// Prints, for each decision of a real ruleset, its name, the calls of the allocator that it makes and those of the same
// decision by hand, both per decision. `vesta-bench-rules` reads it.
func allocations(_ decide: () -> Bool) -> Double {
  let count = 1_000
  // What is made once, such as lazy values, is made before.
  for _ in 0..<count { precondition(decide()) }
  let before = vesta_allocations()
  for _ in 0..<count { precondition(decide()) }
  return Double(vesta_allocations() - before) / Double(count)
}

/// Whether the allocator of the program is the counting one.
var isCounting: Bool {
  let before = vesta_allocations()
  keep(Array(repeating: before, count: 9))
  return vesta_allocations() > before
}

if isCounting {
  for decision in realRulesDecisions() {
    print(decision.name, allocations(decision.ours), allocations(decision.byHand))
  }
} else {
  print("Allocations are counted with glibc only.")
}
